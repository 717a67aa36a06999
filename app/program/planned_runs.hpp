// Expands the options and HPL.dat into a list of runs, as records without results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/input/hpl_dat.hpp"
#include "app/options/plu_options.hpp"
#include "app/record/run_record.hpp"

namespace glinpack::app {

inline constexpr std::int64_t max_runs = 100'000;

/// The HPL.dat that the options name, without the lines that they override. Throws InputError.
std::optional<HplDat> hpl_dat_of(const ParsedOptions& parsed, TextFiles& files);

/// Grids x N x NB x (HPL.dat's inner combinations) x repetitions; the last varies fastest. Options that override
/// HPL.dat (ParsedOptions::overrides_hpl_dat) replace its lists. `file_order`: order of the matrix of --input, which is
/// then the only N. "auto" and `automatic` values are kept for choose_automatic_values() (automatic.hpp). Throws
/// InputError for more than max_runs runs, for --n with --input, for a grid that is no multiple of --node-grid, and
/// for --panel device on a grid whose panels devices cannot factorise.
std::vector<RunRecord> plan_runs(const ParsedOptions& parsed, const std::optional<HplDat>& hpl_dat,
                                 std::optional<Index> file_order, int world_size);

/// The runs of GPUs: NB and the grid are automatic unless options or an HPL.dat have them.
void use_gpu_defaults(const ParsedOptions& parsed, std::vector<RunRecord>& planned);

/// The runs of `glinpack network`: grids x N x NB x broadcasts x repetitions; the last varies fastest. Throws
/// InputError like plan_runs().
std::vector<RunRecord> plan_network_runs(const CommonOptions& options, std::span<const BroadcastKind> broadcasts,
                                         int world_size);

/// Throws InputError if a grid needs more processes than there are, with both numbers. The message begins
/// with `where` ("HPL.dat:10: ").
void check_grids(std::span<const RunRecord> planned, int world_size, const std::string& where);

/// Throws InputError unless every host has the processes of `node_grid`. `nodes`: as nodes_of() numbers those of all
/// ranks; `hosts`: their names.
void check_hosts(GridShape node_grid, std::span<const int> nodes, std::span<const std::string> hosts);

}  // namespace glinpack::app
