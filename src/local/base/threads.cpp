#include "base/threads.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <stdexcept>
#include <string>

namespace glinpack {

void check_that_threads_start(int count) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{256} << 10);
  std::vector<pthread_t> started;
  std::mutex until_tried;
  until_tried.lock();
  const auto wait = [](void* mutex) -> void* {
    const std::lock_guard lock(*static_cast<std::mutex*>(mutex));
    return nullptr;
  };
  int error = 0;
  while (error == 0 && static_cast<int>(started.size()) < count) {
    pthread_t thread{};
    error = pthread_create(&thread, &attributes, wait, &until_tried);
    if (error == 0) started.push_back(thread);
  }
  until_tried.unlock();
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  throw std::runtime_error("only " + std::to_string(started.size()) + " of " + std::to_string(count) +
                           " threads can be started (" + std::generic_category().message(error) + "): raise " +
                           (limit.rlim_cur == RLIM_INFINITY
                                ? "pids.max of the control group or container"
                                : "the limit of processes and threads of the user, RLIMIT_NPROC, from " +
                                      std::to_string(limit.rlim_cur) + " (ulimit -u)"));
}

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
