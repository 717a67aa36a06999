// Counts the memory of a run where it is allocated. The planner runs the constructors of a run with arrays that are
// only counted (none/none_backend.hpp), so that no formula repeats them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"

namespace glinpack {

/// Bytes of a rank.
struct MemoryNeed {
  std::int64_t host = 0;
  std::int64_t device = 0;
  friend bool operator==(const MemoryNeed&, const MemoryNeed&) = default;
};

/// only_counted: arrays that no constructor writes to stay empty.
enum class Arrays { allocated, only_counted };

/// Counts the arrays of runs that this thread allocates during the life of the object.
class MemoryCount : NonCopyable {
 public:
  explicit MemoryCount(Arrays arrays = Arrays::allocated) : arrays_(arrays), outer_(std::exchange(current_, this)) {}
  ~MemoryCount() { current_ = outer_; }
  const MemoryNeed& need() const { return need_; }
  /// Forgets arrays that are freed.
  void return_to(const MemoryNeed& earlier) { need_ = earlier; }

  static void add_host(std::int64_t bytes) {
    if (current_ != nullptr) current_->need_.host += bytes;
  }
  static void add_device(std::int64_t bytes) {
    if (current_ != nullptr) current_->need_.device += bytes;
  }
  static bool only_counts() { return current_ != nullptr && current_->arrays_ == Arrays::only_counted; }

 private:
  static inline thread_local MemoryCount* current_ = nullptr;
  Arrays arrays_;
  MemoryCount* outer_;
  MemoryNeed need_;
};

/// Zeros in host memory. Counted; empty if arrays are only counted.
template <class Number>
std::vector<Number> counted_vector(Index size) {
  MemoryCount::add_host(size * static_cast<std::int64_t>(sizeof(Number)));
  return std::vector<Number>(MemoryCount::only_counts() ? 0 : static_cast<std::size_t>(size));
}

}  // namespace glinpack
