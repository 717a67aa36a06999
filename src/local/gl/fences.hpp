// Points in the stream of GL commands that can be waited for.
#pragma once

#include <deque>
#include <memory>

#include "local/backend.hpp"
#include "local/gl/handle.hpp"

namespace glinpack::gl {

/// Returns when the commands before it are done; those of another context must have been flushed. Throws
/// std::runtime_error when the device was lost.
void wait_for(const SyncHandle& sync);

/// Fence ids rise with every fence taken; a fence is passed when all commands before it are done.
class Fences {
 public:
  /// Of the context's commands, which the backend knows as queue `queue`.
  explicit Fences(std::shared_ptr<Context> context, std::uint32_t queue = 0)
      : context_(std::move(context)), queue_(queue) {}

  /// Commands were given since the last fence.
  void work_given() { idle_ = false; }
  /// Stands for all commands given so far.
  Fence take();
  bool passed(Fence fence) const { return fence.id <= passed_; }
  void wait(Fence fence);
  /// Notes which fences have passed, without waiting.
  void poll();
  /// Waits for all commands given so far.
  void wait_idle() { wait(take()); }
  /// The sync object of the latest fence, until the next call of another function; null where that has passed.
  GLsync latest() const { return pending_.empty() ? nullptr : pending_.back().sync.id(); }
  /// Whether all fences taken have passed, as far as poll() and wait() know.
  bool all_passed() const { return passed_ == last_; }

 private:
  struct Pending {
    std::uint64_t id;
    SyncHandle sync;
  };
  /// Notes that this fence, and all before it, have passed.
  void pass(std::deque<Pending>::iterator fence);

  std::shared_ptr<Context> context_;
  std::uint32_t queue_;
  std::deque<Pending> pending_;
  SyncHandle last_passed_;
  std::uint64_t last_ = 0;
  std::uint64_t passed_ = 0;
  bool idle_ = true;  // no command since fence `last_`
};

}  // namespace glinpack::gl
