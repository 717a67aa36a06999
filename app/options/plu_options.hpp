// The options of `glinpack plu`, and the options that it shares with other subcommands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/fields.hpp"
#include "backend/registry.hpp"
#include "base/precision.hpp"
#include "lu/parameters.hpp"
#include "matrix/grid.hpp"
#include "matrix/matrix_source.hpp"
#include "transport/node_route.hpp"

namespace glinpack::app {

/// When to show or do something.
enum class When { automatic, always, never };
inline constexpr auto all_whens = values_up_to<When::never>;
constexpr std::string_view name_of(When when) { return text_by_value(when, "auto", "always", "never"); }

/// The breakdown of the time that the report has. automatic: phases in sweeps of up to max_runs_with_breakdown runs.
enum class BreakdownTable { automatic, phases, roles, none };
inline constexpr auto all_breakdown_tables = values_up_to<BreakdownTable::none>;
inline constexpr std::size_t max_runs_with_breakdown = 10;
constexpr std::string_view name_of(BreakdownTable table) {
  return text_by_value(table, "auto", "phases", "roles", "none");
}

inline constexpr double default_checkpoint_every = 600;  // seconds

/// An order, a block size or a number of pieces that is chosen later (automatic.hpp).
inline constexpr Index automatic = 0;
/// Likewise for a grid.
inline constexpr GridShape automatic_shape{0, 0};

/// The options that plu and network share.
struct CommonOptions {
  // lists span a sweep over grids x n x nb; "auto" is stored as a list with only `automatic`
  std::vector<Index> n{2000};
  std::vector<Index> nb{128};
  std::vector<GridShape> grid;         // empty: the squarest grid of all processes
  std::optional<GridShape> node_grid;  // empty: ranks fill the grid in their order
  Precision precision = Precision::double_;
  Pivoting pivoting = Pivoting::partial;
  RowSwap row_swap{.kind = RowSwapKind::binary_exchange, .pieces = automatic};
  int repeat = 1;

  // output; empty names: not written
  std::string output_dir;
  std::string json;
  std::string csv;
  bool force = false;

  std::optional<double> watchdog;  // seconds without progress; empty: off

  std::string config;
};

struct PluOptions : CommonOptions {
  // the problem
  MatrixKind matrix = MatrixKind::hpl;  // file: set by `input`
  std::uint64_t seed = 100;             // HPL's seed
  std::string input;
  std::string hpl_dat;

  // the algorithm
  PanelPlace panel = PanelPlace::automatic;
  BroadcastKind broadcast = BroadcastKind::ring;
  int lookahead = 1;
  double threshold = 16.0;
  bool compute_only = false;
  std::optional<Index> abft;  // passes between two checks, or automatic; unset: no checksums

  // checkpoints
  std::string checkpoint;                  // folder; empty: none is written
  std::optional<double> checkpoint_every;  // seconds; unset: default_checkpoint_every
  std::string resume;                      // folder; empty: from the start

  // machine
  std::string backend = "auto";
  std::optional<int> device;     // an index of `glinpack devices`; unset: the rank's number on its node
  std::optional<int> threads;    // unset: the node's cores divided by its ranks
  double memory_fraction = 0.8;  // of free memory, for n = automatic
  std::optional<double> time;    // seconds at the peak rate, for n = automatic; unset: memory alone limits N
  std::optional<double> peak;    // GFLOPS of a process; 0: left out; unset: measured
  bool measures_peak = false;    // however short the runs: --peak auto is given
  BackendValues backend_values = default_backend_values();

  // output
  std::string trace;
  std::string save_solution;
  BreakdownTable breakdown = BreakdownTable::automatic;
  bool doctor = true;  // runs the quick checks of `glinpack doctor` first

  // instead of a run
  bool dry_run = false;
  std::optional<Index> explain_pass;
  std::string write_hpl_dat;

  bool runs() const { return !dry_run && !explain_pass && write_hpl_dat.empty(); }
};

struct ParsedOptions : Parsed<PluOptions> {
  std::string hpl_dat_note{};  // whether HPL.dat of the current folder is read; empty if there is none or it is named
  std::string backend_note{};  // what --backend or --products auto has chosen; empty: nothing

  /// True if the option takes precedence over HPL.dat: it is on the command line, or in the configuration file that
  /// names the HPL.dat. An HPL.dat on the command line takes precedence over the configuration file.
  bool overrides_hpl_dat(const std::string& name) const;
};

/// Fields that subcommands share. They keep references to `options`. `with_auto`: sizes and grids may be "auto".
std::vector<Field> grid_fields(CommonOptions& options, bool with_auto);
std::vector<Field> algorithm_fields(CommonOptions& options);
std::vector<Field> result_fields(CommonOptions& options);

OptionTable plu_table(PluOptions& options);

/// Throws InputError for what is given and the backend does not use: --device, --panel device, options of others unless
/// they have their default values, or "auto" or "none" with a backend that "auto" takes. `backend`: that of the
/// options, or the one that "auto" takes.
void check_options_of_backend(const PluOptions& options, std::string_view backend);

/// As xhpl does: sets hpl_dat to HPL.dat of the current folder if it exists, unless --n, --input, --config or --hpl-dat
/// is given. Says so in hpl_dat_note.
void choose_default_hpl_dat(ParsedOptions& parsed, const TextFiles& files);
/// For rank 0, which looks for files: a note that N is the default, since there is no HPL.dat; empty if an option names
/// a source of N.
std::string default_order_note(const ParsedOptions& parsed);

/// The backend's own options. --products auto becomes auto:WAY: the backend takes WAY if it is faster than plain
/// products.
BackendValues values_for_backend(const PluOptions& options);

/// Precedence: command line, file, default. `arguments` follow `glinpack plu`. Throws InputError for unusable values.
/// The caller makes choices that depend on the machine (backend "auto", grids).
ParsedOptions parse_plu_options(const Texts& arguments, TextFiles& files);
inline ParsedOptions parse_plu_options(const Texts& arguments) {
  TextFiles files;
  return parse_plu_options(arguments, files);
}

}  // namespace glinpack::app
