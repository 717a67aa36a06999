#include "local/gl/fences.hpp"

#include <stdexcept>

namespace glinpack::gl {

Fence Fences::take() {
  if (idle_) return {last_};
  pending_.push_back({++last_, SyncHandle(context_)});
  idle_ = true;
  return {last_};
}

void Fences::wait(Fence fence) {
  if (passed(fence)) return;
  while (pending_.size() > 1 && pending_[1].id <= fence.id) pending_.pop_front();  // the later one implies the earlier
  constexpr GLuint64 second = 1'000'000'000;
  GLenum status = GL_TIMEOUT_EXPIRED;
  while (status == GL_TIMEOUT_EXPIRED) {
    status = glClientWaitSync(pending_.front().sync.id(), GL_SYNC_FLUSH_COMMANDS_BIT, second);
  }
  if (status == GL_WAIT_FAILED) throw std::runtime_error("the device was lost: waiting for its work failed");
  passed_ = pending_.front().id;
  pending_.pop_front();
}

void Fences::poll() {
  while (!pending_.empty()) {
    const GLenum status = glClientWaitSync(pending_.front().sync.id(), 0, 0);
    if (status != GL_ALREADY_SIGNALED && status != GL_CONDITION_SATISFIED) return;
    passed_ = pending_.front().id;
    pending_.pop_front();
  }
}

}  // namespace glinpack::gl
