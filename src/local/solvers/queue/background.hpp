// Many problems solved by the host and, in the background, by a device at the same time. The load ratio, of how many
// problems the host solves while the device solves one: A. R. Brodtkorb, The Graphics Processor as a Mathematical
// Coprocessor in MATLAB (2008), section 5.5. It is set by hand as in the paper, or measured and adjusted during a run,
// which the paper names as further work (section 6).
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/measuring.hpp"
#include "base/operation_queue.hpp"
#include "base/scope_exit.hpp"

namespace glinpack {

class LoadBalance {
 public:
  /// `ratio` systems by the host to one by the device, at least 0: of `count` systems, round(count / (1 + ratio)) by
  /// the device.
  static LoadBalance fixed(double ratio, Index count);
  /// Begins with the seconds that a system takes either of them alone. Detects if one alone is faster than both, as
  /// with a software device.
  static LoadBalance automatic(double host_seconds, double device_seconds);

  /// Records the seconds that a system took. `both`: the other one worked at the same time. Changes an automatic
  /// balance.
  void note_host(double seconds, bool both);
  void note_device(double seconds, bool both);

  /// Whether to give the device the next system, with `outstanding` systems on the device and `unassigned` ones left.
  /// An automatic balance gives it enough to keep it busy until the host asks again, if it solves them before the host
  /// could solve all the rest.
  bool next_to_device(Index outstanding, Index unassigned) const;
  /// Whether an idle host should solve a system itself.
  bool next_to_host() const { return share_of_device_ || best() != Best::device; }
  /// Counts a system as given to the device.
  void count_device_system() { ++device_systems_; }

  /// From the last times measured while both worked.
  double ratio() const { return both_.device / both_.host; }
  /// All values that the ratio has had, in order.
  const std::vector<double>& history() const { return history_; }

 private:
  struct Seconds {
    double host = 1;
    double device = 1;
  };
  enum class Best { both, host, device };

  LoadBalance(double host_seconds, double device_seconds);
  Best best() const;

  std::optional<Index> share_of_device_;  // of a fixed balance
  Index device_systems_ = 0;
  Seconds alone_;
  Seconds both_;
  std::vector<double> history_;
};

/// A device's answer to a problem, and the seconds that it took.
template <class Answer>
struct TimedAnswer {
  Answer answer;
  double seconds = 0;
};

/// Times of a run in seconds.
struct BackgroundTimes {
  double total = 0;
  double host = 0;     // solving
  double waiting = 0;  // idle until the device is done
  Index on_device = 0;
};

/// Problems 0 ... count - 1, each solved once: `on_host(i)` by the calling thread, returning its Answer, or by the
/// queue's thread, `enqueue(i)` returning a ResultId<TimedAnswer<Answer>>. `balance` decides, and records their times.
/// keep(i, answer, on_device) is called by the calling thread with every answer, in no particular order. Rethrows
/// exceptions; enqueued problems are still solved, and their results are released.
template <class Answer, class Device, class OnHost, class Enqueue, class Keep>
BackgroundTimes solve_with_background(OperationQueue<Device>& queue, Index count, LoadBalance& balance, OnHost on_host,
                                      Enqueue enqueue, Keep keep) {
  struct Outstanding {
    Index problem;
    ResultId<TimedAnswer<Answer>> id;
    bool both = false;  // the host has also worked since then
  };
  BackgroundTimes times;
  std::deque<Outstanding> outstanding;
  const ScopeExit release_after_an_exception([&] {
    for (const Outstanding& left : outstanding) queue.release(left.id);
  });
  const auto take_first = [&] {
    const Outstanding first = outstanding.front();
    outstanding.pop_front();
    const auto result = queue.take(first.id);
    balance.note_device(result->seconds, first.both);
    keep(first.problem, result->answer, true);
    ++times.on_device;
  };
  const double start = steady_seconds();
  Index next = 0;
  while (next < count || !outstanding.empty()) {
    while (!outstanding.empty() && queue.ready(outstanding.front().id)) take_first();
    while (balance.next_to_device(static_cast<Index>(outstanding.size()), count - next)) {
      outstanding.push_back({.problem = next, .id = enqueue(next)});
      balance.count_device_system();
      ++next;
    }
    const double begin = steady_seconds();
    if (next < count && (outstanding.empty() || balance.next_to_host())) {
      for (Outstanding& other : outstanding) other.both = true;
      const Answer answer = on_host(next);
      const double seconds = steady_seconds() - begin;
      times.host += seconds;
      balance.note_host(seconds, !outstanding.empty());
      keep(next++, answer, false);
    } else if (!outstanding.empty()) {
      queue.wait(outstanding.front().id);
      times.waiting += steady_seconds() - begin;
    }
  }
  times.total = steady_seconds() - start;
  return times;
}

}  // namespace glinpack
