#include "checkpoint/checkpoint_copy.hpp"

#include <cstring>

#include "base/memory_count.hpp"
#include "base/threads.hpp"

namespace glinpack {

namespace {

constexpr Index bytes_per_thread = Index{1} << 20;

}  // namespace

// Memory that is touched for the first time costs several times as much as a copy.
CheckpointCopy::CheckpointCopy(std::size_t bytes, int threads) : bytes_(bytes), threads_(threads) {
  MemoryCount::add_host(static_cast<std::int64_t>(bytes));
  if (MemoryCount::only_counts()) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  parallel_for(threads_, static_cast<Index>(bytes_), bytes_per_thread, [this](Index begin, Index end) {
    std::memset(memory_.get() + begin, 0, static_cast<std::size_t>(end - begin));
  });
}

void CheckpointCopy::clear() {
  used_ = 0;
  beyond_.clear();
  pieces_.clear();
}

void CheckpointCopy::add(std::span<const std::byte> piece) {
  if (piece.size() > bytes_ - used_) {
    pieces_.emplace_back(beyond_.emplace_back(piece.begin(), piece.end()));
    return;
  }
  std::byte* const to = memory_.get() + used_;
  parallel_for(threads_, static_cast<Index>(piece.size()), bytes_per_thread, [&](Index begin, Index end) {
    std::memcpy(to + begin, piece.data() + begin, static_cast<std::size_t>(end - begin));
  });
  pieces_.emplace_back(to, piece.size());
  used_ += piece.size();
}

}  // namespace glinpack
