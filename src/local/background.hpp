// Many problems solved by the host and, in the background, by a device at the same time.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "local/load_balance.hpp"
#include "local/operation_queue.hpp"

namespace glinpack {

/// What a device makes of a problem, and the seconds that it took.
template <class Answer>
struct TimedAnswer {
  Answer answer;
  double seconds = 0;
};

/// How a run went, in seconds.
struct BackgroundTimes {
  double total = 0;
  double host = 0;     // solving
  double waiting = 0;  // for the device, with nothing else to do
  Index on_device = 0;
};

/// Problems 0 ... count - 1, each solved once: `on_host(i)` by the calling thread, returning its Answer, or by the
/// queue's thread, `enqueue(i)` returning a ResultId<TimedAnswer<Answer>>. `balance` decides, and is told how long they
/// take. keep(i, answer, on_device) is called by the calling thread with every answer, in no particular order. What any
/// of them throws is thrown here; what was enqueued by then is done all the same, and its results are released.
template <class Answer, class Device, class OnHost, class Enqueue, class Keep>
BackgroundTimes solve_with_background(OperationQueue<Device>& queue, Index count, LoadBalance& balance, OnHost on_host,
                                      Enqueue enqueue, Keep keep) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  struct Outstanding {
    Index problem;
    ResultId<TimedAnswer<Answer>> id;
    bool both = false;  // the host has worked, too, since
  };
  // lets go of the results that an exception leaves
  struct Queued : std::deque<Outstanding> {
    explicit Queued(OperationQueue<Device>& owner) : queue(owner) {}
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;
    ~Queued() {
      for (const Outstanding& left : *this) queue.release(left.id);
    }
    OperationQueue<Device>& queue;
  };
  BackgroundTimes times;
  Queued outstanding(queue);
  const auto take_first = [&] {
    const Outstanding first = outstanding.front();
    outstanding.pop_front();
    const auto result = queue.take(first.id);
    balance.note_device(result->seconds, first.both);
    keep(first.problem, result->answer, true);
    ++times.on_device;
  };
  const auto start = Clock::now();
  Index next = 0;
  while (next < count || !outstanding.empty()) {
    while (!outstanding.empty() && queue.ready(outstanding.front().id)) take_first();
    while (balance.next_to_device(static_cast<Index>(outstanding.size()), count - next)) {
      outstanding.push_back({.problem = next, .id = enqueue(next)});
      balance.give_to_device();
      ++next;
    }
    const auto begin = Clock::now();
    if (next < count && (outstanding.empty() || balance.next_to_host())) {
      for (Outstanding& other : outstanding) other.both = true;
      const Answer answer = on_host(next);
      const double seconds = since(begin);
      times.host += seconds;
      balance.note_host(seconds, !outstanding.empty());
      keep(next++, answer, false);
    } else if (!outstanding.empty()) {
      queue.wait(outstanding.front().id);
      times.waiting += since(begin);
    }
  }
  times.total = since(start);
  return times;
}

}  // namespace glinpack
