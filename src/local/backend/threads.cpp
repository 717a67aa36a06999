#include "backend/threads.hpp"

#include <system_error>

namespace glinpack {

ThreadTeam::ThreadTeam(int members) {
  for (int member = 1; member < members; ++member) {
    try {
      workers_.emplace_back([this, member] { work(member); });
    } catch (const std::system_error&) {
      return;  // no further thread can be started: a smaller team
    }
  }
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run(const std::function<void(int)>& body) {
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    working_ = static_cast<int>(workers_.size());
    ++runs_;
  }
  started_.notify_all();
  body(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return working_ == 0; });
}

void ThreadTeam::work(int member) {
  unsigned done = 0;
  while (true) {
    const std::function<void(int)>* body = nullptr;
    {
      std::unique_lock lock(mutex_);
      started_.wait(lock, [&] { return stopping_ || runs_ != done; });
      if (stopping_) return;
      done = runs_;
      body = body_;
    }
    (*body)(member);
    {
      const std::lock_guard lock(mutex_);
      --working_;
    }
    finished_.notify_one();
  }
}

}  // namespace glinpack
