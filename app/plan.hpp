// The runs that the options and HPL.dat ask for: a list of records whose results are yet to come.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/input/hpl_dat.hpp"
#include "app/network_options.hpp"
#include "app/options.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app {

inline constexpr std::int64_t most_runs = 100'000;

/// Grids x N x NB x (HPL.dat's inner combinations) x repetitions, the last fastest. Options that override HPL.dat
/// (ParsedOptions::overrides_hpl_dat) replace its lists. `file_order`: order of the matrix of --input, which then is
/// the only N. Backend names stay as given ("auto" included), and what is `automatic` so: settle() (automatic.hpp)
/// chooses it. Throws InputError: more than most_runs runs, --n against --input.
std::vector<RunRecord> plan_runs(const ParsedOptions& parsed, const std::optional<HplDat>& hpl_dat,
                                 std::optional<Index> file_order, int world_size);

/// The runs of messages: grids x N x NB x broadcasts x repetitions, the last fastest. Throws InputError as plan_runs.
std::vector<RunRecord> plan_network_runs(const NetworkOptions& options, int world_size);

/// Throws InputError where a grid needs more processes than there are, with both numbers, or deals panels to several
/// that one device is to factorise. `where`
/// ("HPL.dat:10: ") begins the message.
void check_grids(std::span<const RunRecord> planned, int world_size, const std::string& where);

/// Where rank `rank` of the world sits in a run's grid; none where the grid leaves it out.
std::optional<GridPosition> position_of(const RunRecord& run, int rank);

/// "N 1000, NB 64, grid 2x2".
std::string label_of(const RunRecord& run);

/// What --dry-run prints: the runs, memory per rank, expected flops; what was chosen, and why.
std::string plan_text(std::span<const RunRecord> planned, int world_size, std::span<const std::string> choices = {});
/// What --explain-pass prints: the schedule of the pass, once for every N, NB, grid and pivoting.
std::string explained_passes(std::span<const RunRecord> planned, Index pass);

}  // namespace glinpack::app
