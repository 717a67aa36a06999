// Reads sensors at intervals during a timed section.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/non_copyable.hpp"
#include "sensors/sensor.hpp"

namespace glinpack::sensors {

/// A reading and its time. Trivially copyable.
struct Sample {
  double seconds = 0;
  Reading reading;
};

/// A thread that sleeps between readings, started and stopped for every timed section. Without sensors it starts no
/// thread.
class Sampler : NonCopyable {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t max_samples = 32768;

  /// `interval`: between the starts of readings, > 0. The sensors must outlive it, and are not to be read otherwise
  /// between start() and stop(). When a sensor has `max` samples, an even number, every second one is discarded and
  /// the rate is halved. This bounds the memory of long runs.
  Sampler(std::vector<Sensor*> sensors, std::chrono::duration<double> interval, std::size_t max = max_samples);
  ~Sampler();

  /// Discards all samples, and returns when every sensor has been read once.
  void start();
  /// Reads every sensor a last time. Returns a list for each sensor, in their order, in seconds since `epoch`: at least
  /// two samples if it was started, none if no thread could be started or reading failed. Times before the epoch are
  /// negative.
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
  std::size_t max_;
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
