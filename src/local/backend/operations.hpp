// The operations of a rank in the driver's order, as the none backend and a recording transport list them. A model of a
// machine gives each its time (app/model/).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/timeline.hpp"

namespace glinpack {

/// Kinds of work whose costs differ.
enum class Work : std::uint8_t {
  panel_host,    // a panel on the host: flops, bytes of the panel, columns
  panel_device,  // a panel on the device: the same
  normalize,     // the U12 solve: flops, bytes read and written, calls
  swap,          // rows moved within a memory: bytes read and written, calls
  reduce,        // the trailing update: flops, bytes of A22 read and written, calls
  transfer,      // between host and device: bytes, transfers
  substitution,  // backward substitution: flops, bytes of U read, passes
  network,       // between nodes: bytes, messages
  memory,        // between ranks of a node: bytes, messages
};

inline constexpr auto all_work = values_up_to<Work::memory>;
constexpr std::string_view name_of(Work work) {
  return text_by_value(work, "panel of the host", "panel of the device", "normalize", "swap", "reduce", "transfer",
                       "substitution", "network", "memory of a node");
}

template <class Value>
class ByWork {
 public:
  Value& operator[](Work work) { return values_[static_cast<std::size_t>(work)]; }
  const Value& operator[](Work work) const { return values_[static_cast<std::size_t>(work)]; }

 private:
  std::array<Value, all_work.size()> values_{};
};

/// An amount of work: of one operation, or a sum.
struct Amounts {
  double flops = 0;
  double bytes = 0;
  double steps = 0;  // columns, calls, messages: what costs time however small it is

  Amounts& operator+=(const Amounts& other) {
    flops += other.flops;
    bytes += other.bytes;
    steps += other.steps;
    return *this;
  }
  friend Amounts operator*(double factor, const Amounts& amounts) {
    return {factor * amounts.flops, factor * amounts.bytes, factor * amounts.steps};
  }
};

/// What an operation occupies: the host, the device's queue of kernels, or its queue of copies in one direction.
enum class Queue : std::uint8_t { host, device, upload, download };

struct Operation {
  enum class Kind : std::uint8_t {
    compute,        // work on a queue
    wait_for_work,  // the host waits for an earlier operation
    start_message,  // messages of the transport begin
    wait_for_data,  // until this rank has received its data
    wait_for_end,   // until this rank has received and sent everything
  };
  Kind kind = Kind::compute;
  Work work = Work::reduce;
  Queue queue = Queue::host;
  Amounts amounts{};
  /// wait_for_work: the operation waited for. Messages: the index in the transport's list.
  std::size_t target = 0;
  Index pass = -1;
};

class OperationList {
 public:
  explicit OperationList(const Timeline& timeline) : timeline_(timeline) {}

  /// Returns the operation's place in the list. Work of the host without an operation between is one operation.
  std::size_t compute(Work work, Queue queue, const Amounts& amounts) {
    if (queue == Queue::host && !operations_.empty()) {
      Operation& last = operations_.back();
      const bool same = last.kind == Operation::Kind::compute && last.work == work && last.queue == queue &&
                        last.pass == timeline_.pass();
      if (same) {
        last.amounts += amounts;
        return operations_.size() - 1;
      }
    }
    return add({.kind = Operation::Kind::compute, .work = work, .queue = queue, .amounts = amounts});
  }
  void wait_for_work(std::size_t operation) { add({.kind = Operation::Kind::wait_for_work, .target = operation}); }
  void message(Operation::Kind kind, std::size_t message) { add({.kind = kind, .target = message}); }

  const std::vector<Operation>& operations() const { return operations_; }
  std::vector<Operation> take() { return std::move(operations_); }

 private:
  std::size_t add(Operation operation) {
    operation.pass = timeline_.pass();
    operations_.push_back(operation);
    return operations_.size() - 1;
  }

  const Timeline& timeline_;
  std::vector<Operation> operations_;
};

}  // namespace glinpack
