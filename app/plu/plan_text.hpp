// What plu prints instead of running: --dry-run, --write-hpl-dat, and --explain-pass, a pass as the driver runs it,
// recorded on a backend that computes nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/record/run_record.hpp"

namespace glinpack::app {

/// Some of `planned`: one run for each schedule of a pass. Throws InputError if one of them has no such pass.
std::vector<RunRecord> runs_to_explain(std::span<const RunRecord> planned, Index pass);

/// Each rank's role and extents, the messages, and the steps of each role in lines of at most 100 characters.
std::string explained_passes(std::span<const RunRecord> runs, Index pass);

/// The recorded operations and messages of every rank (docs/algorithm.md).
nlohmann::json explained_passes_json(std::span<const RunRecord> runs, Index pass);

/// The output of --dry-run: the runs, memory per rank, expected flops, and remarks, such as the automatic choices.
/// `prints_all`: if false, only the first and last of many runs.
std::string plan_text(std::span<const RunRecord> planned, int world_size, std::span<const std::string> remarks = {},
                      bool prints_all = false);

/// The HPL.dat of --write-hpl-dat: each value of the runs once, with threshold and row swap of the first. Throws
/// InputError for what HPL does not have.
std::string hpl_dat_text(std::span<const RunRecord> planned);

}  // namespace glinpack::app
