// Failed checks of checksums, of all ranks: the return to a checkpoint after them, and their record.
#pragma once

#include <optional>
#include <vector>

#include "run/run_observer.hpp"

namespace glinpack {

/// After a failed check: StateSaver::roll_back(), and its record. `mine`: the mismatches of this rank. Nothing if the
/// checkpoint cannot be read, which the record then says. Collective.
std::optional<LoadedState> roll_back(const ProcessGrid& grid, StateSaver& saver, const std::vector<Mismatch>& mine,
                                     ChecksumRecord& record);

/// After the run's RankRecords are gathered: makes the record that of all ranks. On the root, the result names the rank
/// that was wrong first. Collective.
void report_mismatches(const ProcessGrid& grid, RunResult& result);

}  // namespace glinpack
