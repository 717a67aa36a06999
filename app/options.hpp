// The options of `glinpack plu`, and those that it shares with other subcommands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/fields.hpp"
#include "backend/precision.hpp"
#include "lu/parameters.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app {

/// When something is shown or done.
enum class When { automatic, always, never };
inline constexpr std::array all_whens{When::automatic, When::always, When::never};
constexpr std::string_view name_of(When when) {
  constexpr std::array<std::string_view, 3> names{"auto", "always", "never"};
  return names[static_cast<std::size_t>(when)];
}

/// The source of the texture coordinates of gl-raster's fragments.
enum class RasterCoordinates { streamed, computed };
inline constexpr std::array all_raster_coordinates{RasterCoordinates::streamed, RasterCoordinates::computed};
constexpr std::string_view name_of(RasterCoordinates coordinates) {
  return coordinates == RasterCoordinates::streamed ? "streamed" : "computed";
}

/// An order or a block size that is still to be chosen (automatic.hpp).
inline constexpr Index automatic = 0;
/// The same for a grid.
inline constexpr GridShape automatic_shape{0, 0};

/// What plu and network share.
struct CommonOptions {
  // lists make a sweep over grids x n x nb; a list of `automatic` alone is what "auto" gives
  std::vector<Index> n{2000};
  std::vector<Index> nb{128};
  std::vector<GridShape> grid;  // empty: the squarest for the number of processes
  RankOrder order = RankOrder::row_major;
  Precision precision = Precision::double_;
  Pivoting pivoting = Pivoting::partial;
  NodeTransport node_transport = NodeTransport::shared;
  RowSwap row_swap{.kind = RowSwapKind::binary_exchange};
  int repeat = 1;

  // what comes out; empty names: not written
  std::string output_dir;
  std::string json;
  std::string csv;
  bool force = false;
  When progress = When::automatic;

  std::optional<double> watchdog;  // seconds without progress; empty: off

  std::string config;
};

struct PluOptions : CommonOptions {
  // the problem
  MatrixKind matrix = MatrixKind::hpl;  // file: the one of `input`
  std::uint64_t seed = 100;             // HPL's own
  std::string input;
  std::string hpl_dat;

  // the algorithm
  PanelPlace panel = PanelPlace::automatic;
  BroadcastKind broadcast = BroadcastKind::ring;
  int lookahead = 1;
  double threshold = 16.0;
  bool compute_only = false;

  // what it runs on
  std::string backend = "auto";
  std::optional<int> device;     // as `glinpack devices` counts; without: by the rank's number on its node
  std::optional<int> threads;    // without: the node's cores divided by its ranks
  double memory_fraction = 0.8;  // of what is free, that n = automatic may take
  std::string shader_dir;
  std::string tile;  // of gl-compute's reduce kernel; empty: the one tuned, or the built-in one
  RasterCoordinates raster_coordinates = RasterCoordinates::streamed;

  // what comes out; empty names: not written
  std::string trace;
  std::string save_solution;
  When breakdown = When::automatic;
  bool doctor = true;           // the quick part of `glinpack doctor` goes before the runs
  double power_interval = 0.1;  // between readings of power sensors, seconds; 0: none

  // instead of running
  bool dry_run = false;
  std::optional<Index> explain_pass;

  bool runs() const { return !dry_run && !explain_pass; }
};

struct ParsedOptions : Parsed<PluOptions> {
  /// Whether an option that HPL.dat also sets takes precedence over it: given on the command line, or in the
  /// configuration file that names the HPL.dat. HPL.dat given on the command line beats the configuration file.
  bool overrides_hpl_dat(const std::string& name) const;
};

/// Fields that subcommands share. They refer to `options`, which must outlive them. `with_auto`: sizes and grids may be
/// "auto".
std::vector<Field> grid_fields(CommonOptions& options, bool with_auto);
std::vector<Field> algorithm_fields(CommonOptions& options);
std::vector<Field> result_fields(CommonOptions& options);

OptionTable plu_table(PluOptions& options);

/// Command line over file over default. `arguments`: those after `glinpack plu`. Throws InputError for whatever it
/// cannot use. Choices that depend on the machine (backend "auto", grids) are left to the caller.
ParsedOptions parse_plu_options(const Texts& arguments, TextFiles& files);
inline ParsedOptions parse_plu_options(const Texts& arguments) {
  TextFiles files;
  return parse_plu_options(arguments, files);
}

}  // namespace glinpack::app
