// What a run's timed section took of energy, by the sensors that could be read: sums over ranks. Text, JSON and CSV are
// written from it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/report/breakdown.hpp"
#include "app/report/throttling.hpp"
#include "lu/run.hpp"

namespace glinpack::app {

/// Watts over time, in cells of the same length from 0 to the run's end.
using PowerCurve = std::vector<double>;

/// Part of the time in which a GPU's clocks were held back for a reason.
struct ThrottleShare {
  sensors::ThrottleReason reason;
  double share = 0;  // 0 ... 1
};

/// One sensor, over the timed section. sensors::unknown where a source does not tell.
struct SensorEnergy {
  const SensorRecord* record = nullptr;  // within the RunResult
  int rank = 0;                          // in MPI_COMM_WORLD: who read it
  std::string host;
  double joules = sensors::unknown;
  double average_watts = sensors::unknown;
  double peak_watts = sensors::unknown;
  std::optional<Spread> megahertz;  // of the core, over time
  std::optional<Spread> celsius;
  std::vector<ThrottleShare> throttled;  // idle left out; those that occurred
  std::vector<SlowPasses> slow_passes;   // of the rank that read it
};

/// How much of what a run used is read.
struct Coverage {
  int there = 0;
  int read = 0;
  bool whole() const { return read == there; }
};

struct Energy {
  double seconds = 0;
  double joules = 0;
  double average_watts = 0;
  double peak_watts = 0;                      // most at a time, of all together
  double gflops_per_watt = sensors::unknown;  // where whole kinds are read, and all GPUs that computed
  bool rough = false;                         // the run is not much longer than the counters' steps
  Coverage packages;                          // machines, of the ones that ranks ran on
  Coverage memory;                            // likewise, with DRAM counted
  Coverage gpus;                              // that ranks computed with
  std::vector<SensorEnergy> sensors;          // that count
  std::vector<std::string> sources;           // of the GPUs: "NVML", "hwmon"
};

/// Joules in [0, seconds] by a sensor's samples: of its counter, between samples in proportion to time; without one, of
/// the power between them, as straight lines. Unknown where it has neither, or its counter stood still.
double joules_of(std::span<const sensors::Sample> samples, double seconds);
/// Its power in `cells` parts of [0, seconds]: the source's own where it tells, else of the counter.
PowerCurve power_curve(std::span<const sensors::Sample> samples, double seconds, int cells);
/// What parts of [0, seconds] a reason held for, a sample standing for the time nearest to it.
std::vector<ThrottleShare> throttle_shares(std::span<const sensors::Sample> samples, double seconds);

/// None where no sensor told anything.
std::optional<Energy> energy_of(const RunResult& result);

/// What could not be read, with its host, each once.
std::vector<std::string> unread_sensors(const RunResult& result);

/// "2 of 2 nodes: CPU packages by RAPL, 4 GPUs by NVML; not: memory, network, power supplies".
std::string scope_of(const Energy& energy);

/// A few lines for people, empty where nothing was read. No line looks like a result to HPL's parsers.
std::string energy_text(const RunResult& result);
/// docs/result.schema.json, "energy"; null where nothing was read and nothing was there to be read.
nlohmann::json energy_json(const RunResult& result);

}  // namespace glinpack::app
