#include "base/operation_queue.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>

namespace glinpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The object that a queue's thread owns. Logs the thread of its destruction.
struct Device {
  explicit Device(std::vector<std::string>* log) : log(log) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (log) log->push_back(thread == std::this_thread::get_id() ? "device destroyed" : "destroyed elsewhere");
  }
  std::vector<std::string>* log;
  std::thread::id thread = std::this_thread::get_id();
};

using Queue = OperationQueue<Device>;

std::function<std::shared_ptr<Device>()> a_device(std::vector<std::string>* log = nullptr) {
  return [log] { return std::make_shared<Device>(log); };
}

/// Blocks the queue's thread until it is opened. The operation may outlive the gate.
class Gate {
 public:
  void open() { state_->set(state_->opened); }
  auto operation() {
    return [state = state_](Device&) {
      state->set(state->reached);
      state->wait(state->opened);
      return true;
    };
  }
  /// Waits until the queue's thread has reached the gate.
  void wait_until_reached() { state_->wait(state_->reached); }

 private:
  struct State {
    void set(bool& flag) {
      const std::lock_guard lock(mutex);
      flag = true;
      changed.notify_all();
    }
    void wait(const bool& flag) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return flag; });
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool opened = false;
    bool reached = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

auto returning(int number) {
  return [number](Device&) { return number; };
}
int sum(Device&, const int& a, const int& b) { return a + b; }
auto failing(const char* message) {
  return [message](Device&) -> int { throw std::range_error(message); };
}

/// A device value. Logs when and on which thread it is destroyed.
class Matrix {
 public:
  explicit Matrix(std::vector<std::string>& log) : log_(&log) {}
  Matrix(Matrix&& other) noexcept : log_(std::exchange(other.log_, nullptr)), thread_(other.thread_) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix() {
    if (log_) log_->push_back(thread_ == std::this_thread::get_id() ? "matrix destroyed" : "destroyed elsewhere");
  }

 private:
  std::vector<std::string>* log_;
  std::thread::id thread_ = std::this_thread::get_id();
};

auto making_a_matrix(std::vector<std::string>& log) {
  return [&log](Device&) { return OnDevice<Matrix>{Matrix(log)}; };
}

template <class Exception, class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(OperationQueue, ExecutesInTheOrderOfEnqueueing) {
  std::vector<int> order;
  Queue queue(a_device());
  ResultId<bool> last;
  for (int i = 0; i < 100; ++i) {
    last = queue.enqueue([&order, i](Device&) {
      order.push_back(i);
      return true;
    });
  }
  queue.wait(last);
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(OperationQueue, HasOneThreadThatCreatesUsesAndDestroysTheDevice) {
  std::vector<std::string> log;
  {
    Queue queue(a_device(&log));
    for (int i = 0; i < 10; ++i) {
      const auto id = queue.enqueue([](Device& device) { return device.thread == std::this_thread::get_id(); });
      EXPECT_TRUE(*queue.wait(id));
    }
    EXPECT_NE(*queue.wait(queue.enqueue([](Device& device) { return device.thread; })), std::this_thread::get_id());
  }
  EXPECT_THAT(log, ElementsAre("device destroyed"));
}

TEST(OperationQueue, AcceptsAnIdAsOperandBeforeItIsComputed) {
  Gate gate;
  Queue queue(a_device());
  queue.enqueue(gate.operation());
  const auto one = queue.enqueue(returning(1)), two = queue.enqueue(returning(2));
  const auto three = queue.enqueue(sum, one, two);
  const auto six = queue.enqueue(sum, three, three);
  EXPECT_FALSE(queue.ready(one));
  EXPECT_FALSE(queue.ready(six));
  gate.open();
  EXPECT_EQ(*queue.wait(six), 6);
  EXPECT_TRUE(queue.ready(one));
  EXPECT_EQ(*queue.wait(three), 3);
}

TEST(OperationQueue, WaitsForTheRequestedIdOnly) {
  Gate gate;
  Queue queue(a_device());
  const auto early = queue.enqueue(returning(1));
  const auto held = queue.enqueue(gate.operation());
  const auto late = queue.enqueue(returning(3));
  gate.wait_until_reached();
  EXPECT_EQ(*queue.wait(early), 1);
  EXPECT_FALSE(queue.ready(held));
  EXPECT_FALSE(queue.ready(late));
  EXPECT_EQ(queue.pending(), 2U);
  gate.open();
  EXPECT_EQ(*queue.wait(late), 3);
  EXPECT_EQ(queue.pending(), 0U);
}

TEST(OperationQueue, RethrowsErrorsInTheWaitingThread) {
  Queue queue(a_device());
  const auto id = queue.enqueue(failing("zero pivot in row 3"));
  EXPECT_EQ(message_of<std::range_error>([&] { queue.wait(id); }), "zero pivot in row 3");
  EXPECT_EQ(message_of<std::range_error>([&] { queue.wait(id); }), "zero pivot in row 3") << "second wait";
  EXPECT_EQ(message_of<std::range_error>([&] { queue.take(id); }), "zero pivot in row 3");
  EXPECT_THROW(queue.wait(id), std::invalid_argument) << "already taken";
}

TEST(OperationQueue, PropagatesErrorsToDependentIds) {
  Queue queue(a_device());
  bool called = false;
  const auto wrong = queue.enqueue(failing("the first"));
  const auto right = queue.enqueue(returning(1));
  const auto on_wrong = queue.enqueue(
      [&called](Device&, const int&, const int&) {
        called = true;
        return 1;
      },
      right, wrong);
  const auto on_that = queue.enqueue(sum, on_wrong, right);
  EXPECT_EQ(message_of<std::range_error>([&] { queue.wait(on_that); }), "the first");
  EXPECT_FALSE(called) << "ran an operation whose operand has failed";
  EXPECT_EQ(*queue.wait(right), 1);
  EXPECT_EQ(*queue.wait(queue.enqueue(sum, right, right)), 2) << "unusable after an error";
}

TEST(OperationQueue, RethrowsAnErrorInEveryWaitingThread) {
  Gate gate;
  Queue queue(a_device());
  queue.enqueue(gate.operation());
  const auto id = queue.enqueue(failing("for all"));
  std::vector<std::future<std::string>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(
        std::async(std::launch::async, [&] { return message_of<std::range_error>([&] { queue.wait(id); }); }));
  }
  gate.open();
  for (auto& answer : waiting) EXPECT_EQ(answer.get(), "for all");
}

TEST(OperationQueue, ForgetsTakenIds) {
  Queue queue(a_device());
  const auto id = queue.enqueue(returning(7));
  EXPECT_EQ(*queue.take(id), 7);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { queue.wait(id); }), HasSubstr("taken or released"));
  EXPECT_THROW(queue.take(id), std::invalid_argument);
  EXPECT_THROW(queue.release(id), std::invalid_argument);
  EXPECT_THROW(queue.ready(id), std::invalid_argument);
  EXPECT_THROW(queue.enqueue(sum, id, id), std::invalid_argument);
}

TEST(OperationQueue, CanUseAResultThatWasTakenInTheMeantime) {
  Gate gate;
  Queue queue(a_device());
  const auto one = queue.enqueue(returning(1));
  queue.enqueue(gate.operation());
  const auto two = queue.enqueue(sum, one, one);
  gate.wait_until_reached();
  EXPECT_EQ(*queue.take(one), 1);
  gate.open();
  EXPECT_EQ(*queue.take(two), 2);
}

TEST(OperationQueue, ExecutesAnOperationThatWasReleasedBeforeItBegan) {
  bool done = false;
  Gate gate;
  Queue queue(a_device());
  queue.enqueue(gate.operation());
  const auto id = queue.enqueue([&done](Device&) {
    done = true;
    return 1;
  });
  const auto dependent = queue.enqueue(sum, id, id);
  queue.release(id);
  EXPECT_THROW(queue.wait(id), std::invalid_argument);
  gate.open();
  EXPECT_EQ(*queue.wait(dependent), 2);
  EXPECT_TRUE(done);
}

TEST(OperationQueue, FreesAReleasedResult) {
  Queue queue(a_device());
  const auto value = std::make_shared<int>(1);
  const auto id = queue.enqueue([value](Device&) { return value; });
  queue.wait(id);
  EXPECT_EQ(value.use_count(), 2) << "one here and one in the queue";
  queue.release(id);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(OperationQueue, FreesTheCapturesOfAnOperationBeforeItIsDone) {
  Queue queue(a_device());
  const auto held = std::make_shared<int>(1);
  queue.wait(queue.enqueue([held](Device&) { return *held; }));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THROW(queue.wait(queue.enqueue([held](Device&) -> int { throw std::range_error("failed"); })),
               std::range_error);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(OperationQueue, AcceptsMoveOnlyOperationsAndResults) {
  Queue queue(a_device());
  const auto id = queue.enqueue([number = std::make_unique<int>(4)](Device&) mutable { return std::move(number); });
  const auto next = queue.enqueue([](Device&, const std::unique_ptr<int>& number) { return *number + 1; }, id);
  EXPECT_EQ(*queue.take(next), 5);
  EXPECT_EQ(**queue.take(id), 4);
}

TEST(OperationQueue, DestroysUnusedDeviceValuesOnItsThread) {
  std::vector<std::string> log;
  Queue queue(a_device(&log));
  const auto matrix = queue.enqueue(making_a_matrix(log));
  queue.wait(matrix);
  Gate gate;
  queue.enqueue(gate.operation());
  const auto use = queue.enqueue([](Device&, const Matrix&) { return 1; }, matrix);
  queue.release(matrix);
  const auto seen = queue.enqueue([&log](Device&) { return log; });
  gate.open();
  EXPECT_EQ(*queue.wait(use), 1);
  EXPECT_THAT(*queue.wait(seen), ElementsAre("matrix destroyed"));
}

TEST(OperationQueue, DestroysDeviceValuesReleasedWhileIdle) {
  std::vector<std::string> log;
  Queue queue(a_device(&log));
  const auto matrix = queue.enqueue(making_a_matrix(log));
  queue.wait(matrix);
  queue.release(matrix);
  EXPECT_THAT(*queue.wait(queue.enqueue([&log](Device&) { return log; })), ElementsAre("matrix destroyed"));
}

TEST(OperationQueue, DestroysDeviceValuesBeforeTheDevice) {
  std::vector<std::string> log;
  {
    Queue queue(a_device(&log));
    const auto kept = queue.enqueue(making_a_matrix(log));
    queue.wait(kept);
    Gate gate;
    queue.enqueue(gate.operation());
    queue.enqueue(making_a_matrix(log));
    queue.release(queue.enqueue(making_a_matrix(log)));
    gate.open();
  }
  EXPECT_THAT(log, ElementsAre("matrix destroyed", "matrix destroyed", "matrix destroyed", "device destroyed"));
}

TEST(OperationQueue, FinishExecutesEnqueuedOperationsAndKeepsTheResults) {
  std::vector<std::string> log;
  Gate gate;
  Queue queue(a_device(&log));
  queue.enqueue(gate.operation());
  const auto one = queue.enqueue(returning(1));
  const auto two = queue.enqueue(sum, one, one);
  gate.open();
  queue.finish();
  EXPECT_THAT(log, ElementsAre("device destroyed"));
  EXPECT_EQ(queue.pending(), 0U);
  EXPECT_EQ(*queue.take(two), 2);
  EXPECT_EQ(*queue.take(one), 1);
  EXPECT_THAT(message_of<OperationNotDone>([&] { queue.enqueue(returning(1)); }), HasSubstr("closed"));
  queue.finish();  // a second call has no effect
}

TEST(OperationQueue, AbandonSkipsOperationsThatHaveNotBegun) {
  Gate gate;
  bool done = false;
  Queue queue(a_device());
  const auto before = queue.enqueue(returning(1));
  const auto running = queue.enqueue(gate.operation());
  const auto behind = queue.enqueue([&done](Device&) { return done = true; });
  const auto dependent = queue.enqueue([](Device&, const bool& value) { return value; }, behind);
  gate.wait_until_reached();
  auto waiting =
      std::async(std::launch::async, [&] { return message_of<OperationNotDone>([&] { queue.wait(dependent); }); });
  auto abandoning = std::async(std::launch::async, [&] { queue.abandon(); });
  // after the first rejected enqueue, no operation behind the gate may begin
  while (message_of<OperationNotDone>([&] { queue.release(queue.enqueue(returning(0))); }) == "nothing thrown") {
    std::this_thread::yield();
  }
  gate.open();
  abandoning.get();
  EXPECT_THAT(waiting.get(), HasSubstr("abandoned"));
  EXPECT_EQ(*queue.wait(before), 1);
  EXPECT_TRUE(*queue.wait(running));
  EXPECT_THROW(queue.wait(behind), OperationNotDone);
  EXPECT_FALSE(done);
}

TEST(OperationQueue, ExecutesPendingOperationsBeforeItIsDestroyed) {
  int done = 0;
  {
    Gate gate;
    Queue queue(a_device());
    queue.enqueue(gate.operation());
    for (int i = 0; i < 50; ++i) queue.enqueue([&done](Device&) { return ++done; });
    gate.open();
  }
  EXPECT_EQ(done, 50);
}

TEST(OperationQueue, WaitingThreadsGetTheirResultsDuringDestruction) {
  for (int round = 0; round < 20; ++round) {
    Gate gate;
    std::vector<std::future<int>> answers;
    auto queue = std::make_unique<Queue>(a_device());
    queue->enqueue(gate.operation());
    std::vector<ResultId<int>> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(queue->enqueue(returning(i)));
    const auto wrong = queue->enqueue(failing("also this"));
    std::atomic<int> about_to_wait{0};
    for (int i = 0; i < 8; ++i) {
      answers.push_back(std::async(std::launch::async, [&, i, waited = queue.get()] {
        ++about_to_wait;
        return *(i % 2 == 0 ? waited->wait(ids[static_cast<std::size_t>(i)])
                            : waited->take(ids[static_cast<std::size_t>(i)]));
      }));
    }
    auto error = std::async(std::launch::async, [&, waited = queue.get()] {
      ++about_to_wait;
      return message_of<std::range_error>([&] { waited->wait(wrong); });
    });
    while (about_to_wait < 9) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // gives them time to enter wait() or take()
    auto destroying = std::async(std::launch::async, [&] { queue.reset(); });
    gate.open();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(), i);
    EXPECT_EQ(error.get(), "also this");
  }
}

TEST(OperationQueue, ServesEightProducersAtOnce) {
  constexpr int producers = 8, operations = 200;
  std::vector<std::vector<int>> order(producers);
  Queue queue(a_device());
  std::vector<std::future<int>> totals;
  for (int producer = 0; producer < producers; ++producer) {
    totals.push_back(std::async(std::launch::async, [&, producer] {
      auto total = queue.enqueue(returning(0));
      for (int i = 0; i < operations; ++i) {
        const auto value = queue.enqueue([&order, producer, i](Device&) {
          order[static_cast<std::size_t>(producer)].push_back(i);
          return producer;
        });
        const auto next = queue.enqueue(sum, total, value);
        queue.release(total);
        if (i % 3 == 0) {
          EXPECT_EQ(*queue.take(value), producer);
        } else {
          queue.release(value);
        }
        total = next;
      }
      return *queue.take(total);
    }));
  }
  for (int producer = 0; producer < producers; ++producer) {
    EXPECT_EQ(totals[static_cast<std::size_t>(producer)].get(), producer * operations);
  }
  queue.finish();
  for (const std::vector<int>& own : order) {
    EXPECT_EQ(own.size(), static_cast<std::size_t>(operations));
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end())) << "operations of one producer out of order";
  }
}

TEST(OperationQueue, ExecutesEveryAcceptedOperationWhileBeingClosed) {
  std::atomic<int> done{0}, accepted{0};
  Queue queue(a_device());
  std::vector<std::future<void>> producers;
  for (int producer = 0; producer < 8; ++producer) {
    producers.push_back(std::async(std::launch::async, [&] {
      try {
        while (true) {
          queue.enqueue([&done](Device&) { return ++done; });
          ++accepted;
        }
      } catch (const OperationNotDone&) {
      }
    }));
  }
  while (accepted < 100) std::this_thread::yield();
  std::vector<std::future<void>> closers;
  for (int i = 0; i < 3; ++i) closers.push_back(std::async(std::launch::async, [&] { queue.finish(); }));
  for (auto& producer : producers) producer.get();
  for (auto& closer : closers) closer.get();
  EXPECT_EQ(done, accepted);
}

TEST(OperationQueue, LetsOperationsEnqueueButNotWaitOrClose) {
  Queue queue(a_device());
  const auto inner = queue.enqueue([&queue](Device&) { return queue.enqueue(returning(5)); });
  EXPECT_EQ(*queue.wait(*queue.wait(inner)), 5);
  const auto waits = queue.enqueue([&queue](Device&) { return *queue.wait(queue.enqueue(returning(5))); });
  EXPECT_THAT(message_of<std::logic_error>([&] { queue.wait(waits); }), HasSubstr("make it an operand instead"));
  const auto closes = queue.enqueue([&queue](Device&) {
    queue.finish();
    return 1;
  });
  EXPECT_THAT(message_of<std::logic_error>([&] { queue.wait(closes); }), HasSubstr("would wait for itself"));
  EXPECT_EQ(*queue.wait(queue.enqueue(returning(1))), 1);
}

TEST(OperationQueue, ExecutesEarlyOperationsRightAfterTheirOperands) {
  Queue queue(a_device());
  Gate gate;
  queue.enqueue(gate.operation());
  std::vector<std::string> order;
  const auto note = [&order](const char* name) {
    return [&order, name](Device&, const auto&... operands) {
      order.emplace_back(name);
      return static_cast<int>(sizeof...(operands));
    };
  };
  const auto first = queue.enqueue(note("first"));
  const auto second = queue.enqueue(note("second"));
  const auto third = queue.enqueue(note("third"));
  const auto after_first = queue.enqueue_early(note("early, after first"), first);
  queue.enqueue_early(note("early, after both"), after_first, second);
  queue.enqueue_early(note("at once"));
  gate.open();
  queue.wait(third);
  EXPECT_THAT(order, ElementsAre("at once", "first", "early, after first", "second", "early, after both", "third"));
}

TEST(OperationQueue, CancelsWhatHasNotStarted) {
  std::vector<std::string> log;
  Queue queue(a_device(&log));
  Gate gate;
  const auto running = queue.enqueue(gate.operation());
  gate.wait_until_reached();
  const auto operand = queue.enqueue(returning(1));
  auto freed = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = freed;
  const auto cancelled = queue.enqueue([held = std::move(freed)](Device&, const int& a) { return *held + a; }, operand);
  const auto depending = queue.enqueue(sum, cancelled, operand);
  EXPECT_FALSE(queue.cancel(running)) << "in execution";
  EXPECT_TRUE(queue.cancel(cancelled));
  EXPECT_FALSE(queue.cancel(cancelled)) << "done";
  EXPECT_TRUE(queue.ready(cancelled));
  EXPECT_THROW(queue.wait(cancelled), OperationCancelled) << "without waiting for the gate";
  EXPECT_FALSE(watched.expired()) << "the queue's thread destroys the operation";
  gate.open();
  EXPECT_THROW(queue.wait(depending), OperationCancelled);
  EXPECT_EQ(*queue.wait(operand), 1);
  EXPECT_TRUE(watched.expired());
  queue.release(cancelled);
  EXPECT_THROW(queue.cancel(cancelled), std::invalid_argument);
}

TEST(OperationQueue, WaitsForALimitedTime) {
  Queue queue(a_device());
  Gate gate;
  const auto running = queue.enqueue(gate.operation());
  EXPECT_FALSE(queue.wait_for(running, std::chrono::milliseconds(1)));
  EXPECT_FALSE(queue.wait_for(running, std::chrono::seconds(0)));
  gate.open();
  EXPECT_TRUE(queue.wait_for(running, std::chrono::hours(1)));
  EXPECT_TRUE(queue.wait_for(running, std::chrono::seconds(0)));
}

TEST(OperationQueue, RethrowsTheErrorOfTheDeviceConstructor) {
  EXPECT_EQ(message_of<std::runtime_error>(
                [] { Queue queue([]() -> std::shared_ptr<Device> { throw std::runtime_error("no EGL device 9"); }); }),
            "no EGL device 9");
}

TEST(OperationQueue, RejectsIdsOfAnotherQueue) {
  Queue queue(a_device()), other(a_device());
  const auto id = other.enqueue(returning(1));
  queue.wait(queue.enqueue(returning(2)));
  EXPECT_THROW(queue.wait(id), std::invalid_argument);
  EXPECT_THROW(queue.enqueue(sum, id, id), std::invalid_argument);
  EXPECT_THROW(queue.wait(ResultId<int>{}), std::invalid_argument) << "an id that no queue has returned";
  EXPECT_EQ(*other.wait(id), 1);
}

}  // namespace
}  // namespace glinpack
