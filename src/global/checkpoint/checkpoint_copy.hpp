// A copy of a rank's part of a checkpoint in host memory, so that a thread can write it while the matrix changes.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace glinpack {

class CheckpointCopy {
 public:
  /// Memory for `bytes` bytes, touched and then copied to by `threads` threads. Throws std::bad_alloc.
  CheckpointCopy(std::size_t bytes, int threads);

  void clear();
  /// Appends a piece. Allocates memory if there is no more room.
  void add(std::span<const std::byte> piece);
  /// In the order in which they were added. Valid until clear().
  const std::vector<std::span<const std::byte>>& pieces() const { return pieces_; }

 private:
  std::size_t bytes_;
  int threads_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
  std::deque<std::vector<std::byte>> beyond_;  // pieces for which memory_ had no room
  std::vector<std::span<const std::byte>> pieces_;
};

}  // namespace glinpack
