#include "local/gl/fences.hpp"

#include <stdexcept>

namespace glinpack::gl {

void wait_for(const SyncHandle& sync) {
  constexpr GLuint64 second = 1'000'000'000;
  GLenum status = GL_TIMEOUT_EXPIRED;
  while (status == GL_TIMEOUT_EXPIRED) status = glClientWaitSync(sync.id(), GL_SYNC_FLUSH_COMMANDS_BIT, second);
  if (status == GL_WAIT_FAILED) throw std::runtime_error("the device was lost: waiting for its work failed");
}

Fence Fences::take() {
  if (!idle_) pending_.push_back({++last_, SyncHandle(context_)});
  idle_ = true;
  return {last_, queue_};
}

void Fences::wait(Fence fence) {
  if (passed(fence)) return;
  auto awaited = pending_.begin();  // the latest that is not after `fence`: it implies the earlier ones
  while (awaited + 1 != pending_.end() && (awaited + 1)->id <= fence.id) ++awaited;
  wait_for(awaited->sync);
  pass(awaited);
}

void Fences::poll() {
  while (!pending_.empty()) {
    const GLenum status = glClientWaitSync(pending_.front().sync.id(), 0, 0);
    if (status != GL_ALREADY_SIGNALED && status != GL_CONDITION_SATISFIED) return;
    pass(pending_.begin());
  }
}

void Fences::pass(std::deque<Pending>::iterator fence) {
  passed_ = fence->id;
  // Mesa's llvmpipe says that a fence has passed a moment before its own thread lets go of it: deleted in that moment,
  // it is written to after its memory has been given back. By the next fence, that thread is elsewhere.
  last_passed_ = std::move(fence->sync);
  pending_.erase(pending_.begin(), fence + 1);
}

}  // namespace glinpack::gl
