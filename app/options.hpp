// Everything that `glinpack plu` can be told, by its command line or by a TOML file with the same names as keys; and
// the part of it that other subcommands share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/option_set.hpp"
#include "backend/precision.hpp"
#include "lu/parameters.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app {

/// Something that is shown when it seems to be of use, or regardless.
enum class When { automatic, always, never };

/// Where gl-raster's fragments get their texture coordinates from.
enum class RasterCoordinates { streamed, computed };

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

  std::optional<double> watchdog;  // seconds without progress; empty: nobody watches

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

/// The options that subcommands share, group by group: sizes and grids; pivoting, repetitions; files and progress; the
/// configuration file. `options` must outlive the app. `with_auto`: sizes and grids may be left to glinpack.
void define_grid_options(CLI::App& app, CommonOptions& options, bool with_auto);
void define_algorithm_options(CLI::App& app, CommonOptions& options);
void define_result_options(CLI::App& app, CommonOptions& options);
void define_config_option(CLI::App& app, std::string& config);
nlohmann::json common_to_json(const CommonOptions& options);

/// Adds plu's options to an empty `app`: groups, defaults, units, examples. `options` must outlive it.
void define_plu_options(CLI::App& app, PluOptions& options);

/// Command line over file over default. `arguments`: what follows `glinpack plu`. Throws InputError for whatever it
/// cannot use. Choices that depend on the machine (backend "auto", grids) are left to the caller.
ParsedOptions parse_plu_options(const std::vector<std::string>& arguments);

/// What `glinpack plu --help` prints.
std::string plu_help();

/// Every option but config, by its name; unset ones null. from_json(to_json(x)) gives x back.
nlohmann::json to_json(const PluOptions& options);
PluOptions from_json(const nlohmann::json& configuration);

}  // namespace glinpack::app
