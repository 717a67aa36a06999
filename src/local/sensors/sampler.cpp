#include "sensors/sampler.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace glinpack::sensors {

Sampler::Sampler(std::vector<Sensor*> sensors, std::chrono::duration<double> interval, std::size_t max)
    : sensors_(std::move(sensors)), interval_(std::chrono::duration_cast<Clock::duration>(interval)), max_(max) {}

Sampler::~Sampler() { end_thread(); }

void Sampler::start() {
  end_thread();
  taken_.assign(sensors_.size(), {});
  kept_every_ = 1;
  rounds_ = 0;
  first_read_ = false;
  ending_ = false;
  if (sensors_.empty()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return;  // no further thread can be started: continue without readings
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return first_read_; });
}

std::vector<std::vector<Sample>> Sampler::stop(Clock::time_point epoch) {
  end_thread();
  std::vector<std::vector<Sample>> samples;
  for (const std::vector<Taken>& list : taken_) {
    samples.emplace_back();
    for (const Taken& taken : list) {
      samples.back().push_back({std::chrono::duration<double>(taken.at - epoch).count(), taken.reading});
    }
  }
  taken_.clear();
  return samples;
}

void Sampler::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// If reading fails, the run continues without readings.
void Sampler::run() {
  try {
    read_until_the_end();
  } catch (const std::exception& error) {
    spdlog::warn("sensors are not read: {}", error.what());
    for (std::vector<Taken>& list : taken_) list.clear();
    const std::lock_guard lock(mutex_);
    first_read_ = true;
    changed_.notify_all();
  }
}

// Only this thread accesses the lists until it ends.
void Sampler::read_until_the_end() {
  Clock::time_point next = Clock::now();
  for (bool ends = false; !ends;) {
    if (rounds_++ % kept_every_ == 0) read_all();
    if (taken_.front().size() >= max_) thin_out();
    std::unique_lock lock(mutex_);
    if (!std::exchange(first_read_, true)) changed_.notify_all();
    // missed readings are not repeated
    next = std::max(next + interval_, Clock::now());
    ends = changed_.wait_until(lock, next, [this] { return ending_; });
  }
  read_all();
}

void Sampler::read_all() {
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const Clock::time_point before = Clock::now();
    const Reading reading = sensors_[i]->read();
    taken_[i].push_back({before + (Clock::now() - before) / 2, reading});
  }
}

void Sampler::thin_out() {
  for (std::vector<Taken>& list : taken_) {
    for (std::size_t i = 0; i < list.size() / 2; ++i) list[i] = list[2 * i];
    list.resize(list.size() / 2);
  }
  kept_every_ *= 2;
}

}  // namespace glinpack::sensors
