// Who reads which sensor, and what was read in a run's timed section.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "global/process_grid.hpp"
#include "local/sensors/sampler.hpp"

namespace glinpack {

/// What a rank sees of its machine's sensors. Made once; a run reads this rank's share of them.
struct RankSensors {
  std::string machine;  // the same for all ranks of a running system (sensors::machine_id())
  std::string gpu;      // tells the GPUs of a machine apart: of the one that this rank computes with; empty where none
  std::vector<std::unique_ptr<sensors::Sensor>> found;
  std::vector<sensors::Unread> unread;
};

/// One sensor over a run.
struct SensorRecord {
  sensors::SensorInfo info;
  std::vector<sensors::Sample> samples;  // seconds of the timeline; the first and the last lie around the timed section
};

/// One rank's part.
struct PowerRecord {
  std::string machine;  // as in RankSensors; empty where nothing was to be read
  std::string gpu;
  std::vector<sensors::Unread> unread;
  std::vector<SensorRecord> read;
};

/// For every rank, the places in its list of sensors that it reads: of ranks of one machine that see the same sensor,
/// the first one does. `machines`: of every rank; `ids`: of its sensors. Pure.
std::vector<std::vector<std::size_t>> sensor_shares(const std::vector<std::string>& machines,
                                                    const std::vector<std::vector<std::string>>& ids);

/// This rank's share. Collective over the grid.
std::vector<sensors::Sensor*> share_of(const ProcessGrid& grid, const RankSensors& mine);

/// What the sampler read, as it is gathered; `mine` may be null: then nothing was to be read. Ends the sampler's
/// thread.
PowerRecord power_record(const RankSensors* mine, sensors::Sampler& sampler, sensors::Sampler::Clock::time_point epoch);

/// Every rank's record, in the grid's rank order, on rank (0, 0); empty elsewhere. Collective.
std::vector<PowerRecord> gather_power_records(const ProcessGrid& grid, const PowerRecord& mine);

}  // namespace glinpack
