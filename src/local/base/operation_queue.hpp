// Background computation: any thread enqueues operations, and one thread executes them.
//
// A. R. Brodtkorb, The Graphics Processor as a Mathematical Coprocessor in MATLAB (2008), section 3 and figure 1: calls
// into OpenGL block, and a context belongs to one thread. So one thread owns the context, a queue of operations, and a
// map of results by id. Any thread may enqueue operations. An id represents a result in further operations before it is
// computed. A thread waits only for the results that it requests.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/non_copyable.hpp"

namespace glinpack {

/// Identifies the result of an operation, computed or not. Numbers are unique in a process and never 0.
template <class Result>
struct ResultId {
  std::uint64_t number = 0;
  operator std::uint64_t() const { return number; }
  friend bool operator==(ResultId, ResultId) = default;
};

/// A result, such as GL objects, that only the queue's thread may use and destroy. It can be an operand of further
/// operations and be waited for, but is never returned.
template <class Value>
struct OnDevice {
  Value value;
};

template <class Result>
inline constexpr bool is_on_device = false;
template <class Value>
inline constexpr bool is_on_device<OnDevice<Value>> = true;

/// An operation was not executed: its queue was closed or abandoned before.
class OperationNotDone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An operation was not executed because it, or an operand's operation, was cancelled.
class OperationCancelled : public OperationNotDone {
 public:
  using OperationNotDone::OperationNotDone;
};

/// The queue, its thread and its results, without their types, for OperationQueue.
class UntypedOperationQueue : NonCopyable {
 public:
  using Number = std::uint64_t;  // a ResultId's

  /// Waits until the operation is done, or the timeout passes. Returns whether it is done.
  bool wait_for(Number number, std::chrono::duration<double> timeout);
  /// If the operation has not started, it is done without being executed: its result is an OperationCancelled. Returns
  /// whether it was so.
  bool cancel(Number number);
  /// Whether wait() would return or throw without waiting.
  bool ready(Number number) const;
  /// The result is not needed. The operation is still executed, and so are operations that have it as an operand.
  void release(Number number);

  /// Takes no further operation, and returns when all there are are done and the device is destroyed. Results can still
  /// be asked for.
  void finish();
  /// The same, but operations that have not started are not executed: their result is an OperationNotDone.
  void abandon();
  /// Operations that are not done, the one in execution included.
  std::size_t pending() const;

 protected:
  using Value = std::shared_ptr<const void>;
  /// The queue's thread calls and destroys it. If enqueue() throws, its caller destroys it.
  using Operation = std::function<Value(void* device, std::span<const Value> operands)>;

  /// Starts the thread, on which `make_device` is called first, and the device destroyed last. Throws what
  /// `make_device` throws.
  explicit UntypedOperationQueue(std::function<std::shared_ptr<void>()> make_device);
  /// As finish(); returns when no thread waits in this queue any more. Discards results.
  ~UntypedOperationQueue();

  Number enqueue(Operation operation, std::span<const Number> operands, bool on_device, bool early);
  Value wait(Number number, bool forget);

 private:
  struct Result;
  using ResultPointer = std::shared_ptr<Result>;

  ResultPointer result_of(Number number) const;
  std::deque<ResultPointer>::iterator after_operands(const Result& result);
  void run(const std::function<std::shared_ptr<void>()>& make_device);
  void serve(void* device);
  void execute(ResultPointer result, void* device);
  std::vector<Value> values_of_operands(const Result& result) const;
  void check_waiting_thread(const Result& result) const;
  void drop_device_values();
  void close(bool abandon);

  mutable std::mutex mutex_;
  std::condition_variable to_do_;
  std::condition_variable done_;  // an operation, or the last waiting thread
  std::deque<ResultPointer> queue_;
  std::unordered_map<Number, ResultPointer> results_;
  std::vector<Value> discarded_;  // on the device, for the thread to destroy
  std::exception_ptr start_error_;
  std::thread::id thread_id_;
  int waiting_ = 0;  // threads in wait()
  bool started_ = false;
  bool executing_ = false;
  bool closing_ = false;
  bool abandoned_ = false;
  std::mutex joining_;
  std::thread thread_;
};

/// Operations on a `Device`, which one thread makes, uses and destroys (say, a GL context and its programs). Operations
/// are executed one after the other, in the order of enqueue(), except those of enqueue_early().
///
/// All functions may be called by any thread at any time, also by operations, which may enqueue others but not wait.
/// A number that is unknown here, because its result was taken or released or is another queue's, is a
/// std::invalid_argument.
template <class Device>
class OperationQueue : public UntypedOperationQueue {
 public:
  /// Returns when the device is made, by the new thread. Throws what `make_device` throws.
  explicit OperationQueue(std::function<std::shared_ptr<Device>()> make_device)
      : UntypedOperationQueue([make = std::move(make_device)]() -> std::shared_ptr<void> { return make(); }) {}

  /// The queue's thread calls operation(Device&, const Operands&...); it passes OnDevice<Value> operands as const
  /// Value&. If the operation, or an operand's operation, throws, the exception is the result: see wait(). Throws
  /// OperationNotDone if the queue is closed.
  template <class Operation, class... Operands>
  auto enqueue(Operation operation, ResultId<Operands>... operands) {
    return enqueue_call(false, std::move(operation), operands...);
  }

  /// The same, but the operation is executed right after the last of its operands, before operations that were enqueued
  /// earlier: a result is read without waiting for others.
  template <class Operation, class... Operands>
  auto enqueue_early(Operation operation, ResultId<Operands>... operands) {
    return enqueue_call(true, std::move(operation), operands...);
  }

  /// Waits until the operation is done. Throws what it threw, or what an operand's operation threw; std::logic_error on
  /// the queue's own thread, which would wait for itself.
  template <class Result>
  std::shared_ptr<const Result> wait(ResultId<Result> id) {
    return std::static_pointer_cast<const Result>(UntypedOperationQueue::wait(id, false));
  }
  template <class Value>
  void wait(ResultId<OnDevice<Value>> id) {
    UntypedOperationQueue::wait(id, false);
  }
  /// The same; the queue forgets the result.
  template <class Result>
  std::shared_ptr<const Result> take(ResultId<Result> id) requires(!is_on_device<Result>) {
    return std::static_pointer_cast<const Result>(UntypedOperationQueue::wait(id, true));
  }

 private:
  template <class Operand>
  static const Operand& unwrapped(const Operand& operand) {
    return operand;
  }
  template <class Value>
  static const Value& unwrapped(const OnDevice<Value>& operand) {
    return operand.value;
  }

  template <class Callable, class... Operands>
  auto enqueue_call(bool early, Callable callable, ResultId<Operands>... operands) {
    using Result =
        std::decay_t<decltype(callable(std::declval<Device&>(), unwrapped(std::declval<const Operands&>())...))>;
    static_assert(!std::is_void_v<Result>, "an operation returns its result");
    auto call = [shared = std::make_shared<Callable>(std::move(callable))](
                    void* device, [[maybe_unused]] std::span<const Value> values) -> Value {
      return [&]<std::size_t... position>(std::index_sequence<position...>)->Value {
        return std::make_shared<Result>((*shared)(*static_cast<Device*>(device),
                                                  unwrapped(*static_cast<const Operands*>(values[position].get()))...));
      }
      (std::index_sequence_for<Operands...>());
    };
    const std::array<Number, sizeof...(Operands)> numbers{operands...};
    return ResultId<Result>{UntypedOperationQueue::enqueue(std::move(call), numbers, is_on_device<Result>, early)};
  }
};

}  // namespace glinpack
