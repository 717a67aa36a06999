// What the root gathers from the ranks of a grid after a run: host, backend, timeline, sensors and solution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abft/checksums.hpp"
#include "backend/backend.hpp"
#include "matrix/distribution.hpp"
#include "mpi/process_grid.hpp"
#include "sensors/sampler.hpp"

namespace glinpack {

/// The sensors of a rank's machine. Created once; each run reads this rank's share of them.
struct RankSensors {
  std::string machine;  // the same for all ranks of a running system (sensors::machine_id())
  std::string gpu;      // identifies this rank's GPU within the machine; empty without a GPU
  std::vector<std::unique_ptr<sensors::Sensor>> found;
  std::vector<sensors::Unread> unread;
};

/// One sensor over a run.
struct SensorRecord {
  sensors::SensorInfo info;
  std::vector<sensors::Sample> samples;  // seconds of the timeline; the first and the last enclose the timed section
};

/// The sensors of one rank over a run.
struct PowerRecord {
  std::string machine;  // as in RankSensors; empty if there was nothing to read
  std::string gpu;
  std::vector<sensors::Unread> unread;
  std::vector<SensorRecord> read;
};

/// For every rank, the indices of the sensors that it reads: the first rank of a machine that sees a sensor reads it.
/// `machines`: of every rank; `ids`: of its sensors. Pure.
std::vector<std::vector<std::size_t>> sensor_shares(const std::vector<std::string>& machines,
                                                    const std::vector<std::vector<std::string>>& ids);

/// The sensors that this rank reads. Collective over the grid.
std::vector<sensors::Sensor*> share_of(const ProcessGrid& grid, const RankSensors& mine);

/// The sampler's record. `mine` may be null if there is nothing to read. Ends the sampler's thread.
PowerRecord power_record(const RankSensors* mine, sensors::Sampler& sampler, sensors::Sampler::Clock::time_point epoch);

/// The report of one rank of the grid.
struct RankRecord {
  int world_rank = 0;
  int row = 0;  // in the process grid
  int column = 0;
  std::string host;
  BackendInfo backend;
  std::int64_t displaced_bytes = 0;  // of its local matrix, as DeviceMatrix has it
  std::vector<Mismatch> mismatches;  // of its checksums
  std::vector<Interval> intervals;
  PowerRecord power;  // this rank's samples, for all ranks on the same machine
};

/// "rank 2 on node1, device ..."
std::string name_of(const RankRecord& rank);

/// "rank 1 on node1, device ...", the rank that found the mismatch, or "one of ranks 1, 0: found by rank 1 on ...":
/// checks of several passes do not see from which rank of the process column a row came or a row of U12 was sent, and
/// the whole process row computes its part of the solution.
std::string name_of_faulty(const RankRecord& found_by, const Mismatch& mismatch, std::span<const RankRecord> ranks,
                           Index every);

/// Every rank's host, backend, timeline and readings, in the grid's rank order, on rank (0, 0); empty elsewhere.
/// Collective.
std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, const BackendInfo& info,
                                            const std::vector<Interval>& intervals, const PowerRecord& power = {},
                                            std::int64_t displaced_bytes = 0);

/// The whole solution on rank (0, 0) from every process column's part; empty elsewhere. Collective.
std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local);

}  // namespace glinpack
