// What the ranks of a grid hand to its root when a run is over.
#pragma once

#include <cstdint>
#include <vector>

#include "global/process_grid.hpp"
#include "global/run.hpp"

namespace glinpack {

/// Every rank's host, backend, timeline and readings, in the grid's rank order, on rank (0, 0); empty elsewhere.
/// Collective.
std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, const BackendInfo& info,
                                            const std::vector<Interval>& intervals, const PowerRecord& power = {},
                                            std::int64_t displaced_bytes = 0);

/// The whole solution on rank (0, 0) from every process column's part; empty elsewhere. Collective.
std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local);

}  // namespace glinpack
