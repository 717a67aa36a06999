// Energy of a run's timed section from the readable sensors: sums over ranks. Text, JSON and CSV use it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/record/breakdown.hpp"
#include "run/run.hpp"

namespace glinpack::app {

/// A value at a time. Linear interpolation between points, constant outside.
struct Point {
  double seconds = 0;
  double value = 0;
};
/// The integral over [begin, end] of at least one point.
double integral(std::span<const Point> points, double begin, double end);

/// Watts over time, in cells of equal length from 0 to the run's end.
using PowerCurve = std::vector<double>;

/// The fraction of time during which a GPU was throttled for one reason.
struct ThrottleShare {
  sensors::ThrottleReason reason = sensors::throttle_idle;
  double share = 0;  // 0 ... 1
};

/// One sensor over the timed section. sensors::unknown if a source has no value.
struct SensorEnergy {
  sensors::SensorInfo info;
  std::size_t samples = 0;
  int rank = 0;  // in MPI_COMM_WORLD: the rank that read it
  std::string host;
  double joules = sensors::unknown;
  double average_watts = sensors::unknown;
  double peak_watts = sensors::unknown;
  std::optional<Spread> megahertz;  // core clock over time
  std::optional<Spread> celsius;
  std::vector<ThrottleShare> throttled;  // reasons that occurred, without idle
};

/// The number of sources read, and the number in use.
struct Coverage {
  int there = 0;
  int read = 0;
  bool whole() const { return read == there; }
};

struct Energy {
  double joules = sensors::unknown;  // unknown if no sensor was read
  double average_watts = sensors::unknown;
  double peak_watts = sensors::unknown;  // maximum over time of the sum
  double wall_watts = sensors::unknown;  // mean power by a wall meter (report --watts)
  double gflops_per_watt =
      sensors::unknown;               // by the wall meter, else the sensors if they read whole kinds and all GPUs
  bool rough = false;                 // the run is not much longer than the counters' steps
  Coverage packages;                  // machines, of those with ranks
  Coverage memory;                    // likewise; DRAM counted
  Coverage gpus;                      // GPUs used by ranks
  std::vector<SensorEnergy> sensors;  // included in the sums
  std::vector<std::string> sources;   // of the GPUs: "NVML", "hwmon"
  std::string scope;                  // what was read: "2 nodes: CPU packages by RAPL, ...; not: memory, ..."
  std::vector<std::string> unread;    // the unreadable sensors with their hosts, each once

  bool measured() const { return !sensors.empty(); }
};

/// Joules in [0, seconds] from a sensor's samples. Interpolates the counter linearly between samples. Without a
/// counter, integrates the linearly interpolated power. Unknown if the sensor has neither, or its counter did not
/// change.
double joules_of(std::span<const sensors::Sample> samples, double seconds);
/// Power in `cells` parts of [0, seconds]: the source's power values if it has them, else derived from the counter.
PowerCurve power_curve(std::span<const sensors::Sample> samples, double seconds, int cells);
/// The fraction of [0, seconds] for each reason. A sample counts for the time nearest to it.
std::vector<ThrottleShare> throttle_shares(std::span<const sensors::Sample> samples, double seconds);

/// Empty if the run's ranks have no sensors, readable or not.
std::optional<Energy> energy_of(const RunResult& result);

/// Sets a wall meter's mean power, and GFLOPS/W by it.
void set_wall_watts(Energy& energy, double watts, double gflops);

/// A few lines of text; empty if nothing was read or given. HPL's parsers take no line for a result.
std::string energy_text(const Energy& energy);

}  // namespace glinpack::app
