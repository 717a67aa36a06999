#include "solvers/queue/operation_queue.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace glinpack {

/// The state of an operation. Only the queue's thread uses `operation`, `operands`, and a value on the device; the
/// mutex of the queue guards the rest.
struct UntypedOperationQueue::Result {
  Number number = 0;
  Operation operation;
  std::vector<ResultPointer> operands;
  Value value;
  std::exception_ptr error;
  int users = 0;  // pending operations that have it as operand
  bool on_device = false;
  bool done = false;
  bool released = false;  // no caller can request it any more

  /// A value on the device that is no longer needed. Values of the host are destroyed with their last pointer.
  bool to_discard() const { return on_device && done && released && users == 0; }
};

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

UntypedOperationQueue::UntypedOperationQueue(std::function<std::shared_ptr<void>()> make_device) {
  thread_ = std::thread([this, make = std::move(make_device)] { run(make); });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return started_; });
  if (!start_error_) return;
  lock.unlock();
  thread_.join();
  std::rethrow_exception(std::move(start_error_));
}

UntypedOperationQueue::~UntypedOperationQueue() {
  finish();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return waiting_ == 0; });
}

UntypedOperationQueue::Number UntypedOperationQueue::enqueue(Operation operation, std::span<const Number> operands,
                                                             bool on_device, bool early) {
  const auto result = std::make_shared<Result>();
  result->number = next_number();
  result->on_device = on_device;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) throw OperationNotDone("the queue of operations is closed: it takes no further operation");
    for (const Number operand : operands) result->operands.push_back(result_of(operand));
    result->operation = std::move(operation);
    queue_.insert(early ? after_operands(*result) : queue_.end(), result);
    for (const ResultPointer& operand : result->operands) ++operand->users;
    results_.emplace(result->number, result);
  }
  to_do_.notify_one();
  return result->number;
}

/// The position after the last operand of a result that is not done.
std::deque<UntypedOperationQueue::ResultPointer>::iterator UntypedOperationQueue::after_operands(const Result& result) {
  const auto is_operand = [&](const ResultPointer& queued) {
    return std::find(result.operands.begin(), result.operands.end(), queued) != result.operands.end();
  };
  return std::find_if(queue_.rbegin(), queue_.rend(), is_operand).base();
}

UntypedOperationQueue::Value UntypedOperationQueue::wait(Number number, bool forget) {
  std::unique_lock lock(mutex_);
  const ResultPointer result = result_of(number);
  check_waiting_thread(*result);
  if (forget) {
    results_.erase(number);
    result->released = true;
  }
  ++waiting_;
  done_.wait(lock, [&] { return result->done; });
  // the destructor waits for this thread to release the mutex
  if (--waiting_ == 0 && closing_) done_.notify_all();
  if (result->error) std::rethrow_exception(result->error);
  return result->on_device ? nullptr : result->value;
}

bool UntypedOperationQueue::wait_for(Number number, std::chrono::duration<double> timeout) {
  std::unique_lock lock(mutex_);
  const ResultPointer result = result_of(number);
  check_waiting_thread(*result);
  ++waiting_;
  done_.wait_for(lock, timeout, [&] { return result->done; });
  if (--waiting_ == 0 && closing_) done_.notify_all();
  return result->done;
}

void UntypedOperationQueue::check_waiting_thread(const Result& result) const {
  if (result.done || std::this_thread::get_id() != thread_id_) return;
  throw std::logic_error("an operation waits for result " + std::to_string(result.number) +
                         " on the queue's own thread, which would compute it: make it an operand instead");
}

bool UntypedOperationQueue::cancel(Number number) {
  {
    const std::lock_guard lock(mutex_);
    const ResultPointer result = result_of(number);
    const auto queued = std::find(queue_.begin(), queue_.end(), result);
    if (queued == queue_.end()) return false;
    queue_.erase(queued);
    result->error = std::make_exception_ptr(
        OperationCancelled("operation " + std::to_string(number) + " was cancelled before it began"));
    result->done = true;
    discarded_.push_back(std::make_shared<Operation>(std::exchange(result->operation, nullptr)));
    for (const ResultPointer& operand : std::exchange(result->operands, {})) {
      --operand->users;
      if (operand->to_discard()) discarded_.push_back(std::move(operand->value));
    }
    done_.notify_all();
  }
  to_do_.notify_one();
  return true;
}

bool UntypedOperationQueue::ready(Number number) const {
  const std::lock_guard lock(mutex_);
  return result_of(number)->done;
}

void UntypedOperationQueue::release(Number number) {
  ResultPointer result;  // destroyed after unlocking
  {
    const std::lock_guard lock(mutex_);
    result = result_of(number);
    results_.erase(number);
    result->released = true;
    if (!result->to_discard()) return;
    discarded_.push_back(std::move(result->value));
  }
  to_do_.notify_one();
}

void UntypedOperationQueue::finish() { close(false); }

void UntypedOperationQueue::abandon() { close(true); }

void UntypedOperationQueue::close(bool abandon) {
  {
    const std::lock_guard lock(mutex_);
    if (std::this_thread::get_id() == thread_id_) {
      throw std::logic_error("an operation closes the queue that executes it, and would wait for itself");
    }
    closing_ = true;
    abandoned_ = abandoned_ || abandon;
  }
  to_do_.notify_one();
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

std::size_t UntypedOperationQueue::pending() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + (executing_ ? 1 : 0);
}

UntypedOperationQueue::ResultPointer UntypedOperationQueue::result_of(Number number) const {
  const auto found = results_.find(number);
  if (found != results_.end()) return found->second;
  throw std::invalid_argument("no result " + std::to_string(number) +
                              " in this queue: it was taken or released, or never enqueued here");
}

void UntypedOperationQueue::run(const std::function<std::shared_ptr<void>()>& make_device) {
  std::shared_ptr<void> device;
  std::exception_ptr error;
  try {
    device = make_device();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    thread_id_ = std::this_thread::get_id();
    started_ = true;
    start_error_ = error;
    error = nullptr;
    done_.notify_all();
    if (start_error_) return;
  }
  serve(device.get());
  drop_device_values();
}

void UntypedOperationQueue::serve(void* device) {
  while (true) {
    std::vector<Value> discarded;
    ResultPointer result;
    {
      std::unique_lock lock(mutex_);
      to_do_.wait(lock, [this] { return closing_ || !queue_.empty() || !discarded_.empty(); });
      discarded.swap(discarded_);
      if (!queue_.empty()) {
        result = std::move(queue_.front());
        queue_.pop_front();
        executing_ = true;
      } else if (closing_ && discarded.empty()) {
        return;
      }
    }
    discarded.clear();
    if (result) execute(std::move(result), device);
  }
}

void UntypedOperationQueue::execute(ResultPointer result, void* device) {
  Value value;
  std::exception_ptr error;
  try {
    const std::vector<Value> operands = values_of_operands(*result);
    value = result->operation(device, operands);
  } catch (...) {
    error = std::current_exception();
  }
  // before it counts as done, so that waiting threads find its resources released
  result->operation = nullptr;
  std::vector<ResultPointer> unused;  // the last pointers, destroyed after unlocking
  const std::lock_guard lock(mutex_);
  result->value = std::move(value);
  result->error = std::move(error);
  result->done = true;
  executing_ = false;
  std::vector<ResultPointer> let_go = std::exchange(result->operands, {});
  for (const ResultPointer& operand : let_go) --operand->users;
  let_go.push_back(std::move(result));
  for (ResultPointer& pointer : let_go) {
    if (pointer->to_discard()) discarded_.push_back(std::move(pointer->value));
    if (pointer.use_count() == 1) unused.push_back(std::move(pointer));
  }
  done_.notify_all();
}

/// Throws the error of an operand, if one failed.
std::vector<UntypedOperationQueue::Value> UntypedOperationQueue::values_of_operands(const Result& result) const {
  const std::lock_guard lock(mutex_);
  if (abandoned_) {
    throw OperationNotDone("operation " + std::to_string(result.number) +
                           " was not done: its queue was abandoned before it began");
  }
  std::vector<Value> values;
  for (const ResultPointer& operand : result.operands) {
    if (operand->error) std::rethrow_exception(operand->error);
    values.push_back(operand->value);
  }
  return values;
}

// Values on the device must be destroyed on this thread.
void UntypedOperationQueue::drop_device_values() {
  std::vector<Value> left;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, result] : results_) {
      if (result->on_device) left.push_back(std::move(result->value));
    }
    left.insert(left.end(), discarded_.begin(), discarded_.end());
    discarded_.clear();
    thread_id_ = {};  // the system may reuse the id for another thread
  }
}

}  // namespace glinpack
