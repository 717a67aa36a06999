// Failed checks of checksums, of all ranks.
#pragma once

#include <vector>

#include "run/run.hpp"

namespace glinpack {

/// The mismatch that is_worse(), and its rank, on the root. `mine`: of this rank. Collective.
Rollback worst_mismatch(const ProcessGrid& grid, const std::vector<Mismatch>& mine);

/// After the run's RankRecords are gathered: makes the record that of all ranks. On the root, the result names the rank
/// that was wrong first. Collective.
void report_mismatches(const ProcessGrid& grid, RunResult& result);

}  // namespace glinpack
