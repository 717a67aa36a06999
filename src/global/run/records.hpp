// What the root gathers from the ranks of a grid after a run: host, backend, timeline, sensors and solution.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abft/mismatch.hpp"
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

template <class Json>
void describe_sensor(Json& json, sensors::SensorInfo& info) {
  json("kind", info.kind);
  json("id", info.id);
  json("name", info.name);
  json("source", info.source);
  json.number_or_null("power_limit_watts", info.power_limit_watts);
  json.number_or_null("most_megahertz", info.max_core_megahertz);
}

template <class Json>
void describe(Json& json, sensors::Unread& unread) {
  json("kind", unread.kind);
  json("why", unread.why);
}

/// One sensor over a run.
struct SensorRecord {
  sensors::SensorInfo info;
  std::vector<sensors::Sample> samples;  // seconds of the timeline; the first and the last enclose the timed section
};

template <class Json>
void describe(Json& json, SensorRecord& sensor) {
  describe_sensor(json, sensor.info);
  json("samples", sensor.samples);
}

/// The sensors of one rank over a run.
struct PowerRecord {
  std::string machine;  // as in RankSensors; empty if there was nothing to read
  std::string gpu;
  std::vector<sensors::Unread> unread;
  std::vector<SensorRecord> read;
};

template <class Json>
void describe(Json& json, PowerRecord& power) {
  json("machine", power.machine);
  json("gpu", power.gpu);
  json("unread", power.unread);
  json("read", power.read);
}

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

/// What files have of a rank, too.
template <class Json>
void describe_rank(Json& json, RankRecord& rank) {
  BackendInfo& info = rank.backend;
  json("rank", rank.world_rank);
  json("row", rank.row);
  json("column", rank.column);
  json("host", rank.host);
  json("backend", info.backend);
  json("device", info.device);
  json.nullable("device_index", info.device_index >= 0, info.device_index);
  json("software_gl", info.software_device);  // of OpenGL and Vulkan: earlier results have this name
  json("driver", info.driver);
  json.later("blas", info.blas);
  json.later("kernels", info.kernels);
  json.later("products", info.products);
  json.later("moduli", info.moduli);
  json.later("product_error", info.product_error);
  json("threads", info.threads);
  json.nullable("free_bytes", info.free_bytes > 0, info.free_bytes);
  json.later("displaced_bytes", rank.displaced_bytes);
  json.later("mismatches", rank.mismatches);
}

template <class Json>
void describe(Json& json, RankRecord& rank) {
  describe_rank(json, rank);
  json("device_uuid", rank.backend.device_uuid);
  json("intervals", rank.intervals);
  json("power", rank.power);
}

/// "rank 2 on node1, device ..."
std::string name_of(const RankRecord& rank);

/// "rank 1 on node1, device ...", the rank that found the mismatch, or "one of ranks 1, 0: found by rank 1 on ...":
/// checks of several passes do not see from which rank of the process column a row came or a row of U12 was sent, and
/// the whole process row computes its part of the solution.
std::string name_of_faulty(const RankRecord& found_by, const Mismatch& mismatch, std::span<const RankRecord> ranks,
                           Index every);

/// Every rank's record with its place and host, in the grid's rank order, on rank (0, 0); empty elsewhere. Collective.
std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, RankRecord mine);

/// The whole solution on rank (0, 0) from every process column's part; empty elsewhere. Collective.
std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local);

// Failed checks of checksums, of all ranks (run.hpp).
struct Rollback;
struct RunResult;

/// The mismatch that is_worse(), and its rank, on the root. `mine`: of this rank. Collective.
Rollback worst_mismatch(const ProcessGrid& grid, const std::vector<Mismatch>& mine);

/// After the run's RankRecords are gathered: makes the record that of all ranks. On the root, the result names the rank
/// that was wrong first. Collective.
void report_mismatches(const ProcessGrid& grid, RunResult& result);

}  // namespace glinpack
