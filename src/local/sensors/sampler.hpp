// Reads sensors now and then while something else is timed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "local/sensors/sensor.hpp"

namespace glinpack::sensors {

/// One reading, and when. Trivially copyable.
struct Sample {
  double seconds = 0;
  Reading reading;
};

/// A thread that sleeps between readings, started and stopped for every section that is timed. Without sensors there is
/// no thread.
class Sampler {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_samples = 32768;

  /// `interval`: between the starts of readings, > 0. The sensors must outlive it, and nobody else may read them
  /// between start() and stop(). Where a sensor has `most` samples, an even number, every second one is forgotten and
  /// half as many are kept from there on, so that a run of days takes no more memory than one of an hour.
  Sampler(std::vector<Sensor*> sensors, std::chrono::duration<double> interval, std::size_t most = most_samples);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  /// Forgets what there is, and returns once every sensor was read for the first time.
  void start();
  /// Reads every sensor for a last time. A list for each, in their order, in seconds since `epoch`: at least two where
  /// it was started (none where the system gives no thread, or reading failed), the first negative where that was
  /// before the epoch.
  std::vector<std::vector<Sample>> stop(Clock::time_point epoch);

  const std::vector<Sensor*>& sensors() const { return sensors_; }

 private:
  struct Taken {
    Clock::time_point at;
    Reading reading;
  };

  void read_all();
  void thin_out();
  void run();
  void read_until_the_end();
  void end_thread();

  std::vector<Sensor*> sensors_;
  Clock::duration interval_;
  std::size_t most_;
  std::vector<std::vector<Taken>> taken_;  // by sensor
  std::size_t kept_every_ = 1;             // of the readings
  std::size_t rounds_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool first_read_ = false;
  bool ending_ = false;
};

}  // namespace glinpack::sensors
