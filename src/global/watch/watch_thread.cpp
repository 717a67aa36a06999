#include "watch/watch_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string>

#include "base/measuring.hpp"

namespace glinpack {

namespace {

constexpr double shortest_period = 0.05;
constexpr double longest_period = 1;
// Seconds for which the second watcher waits for the first one's verdict.
constexpr double head_start = 2;

// The state letter of proc(5): T stopped by a signal, t by a debugger.
bool is_stopped(long process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'T' || state == 't';
}

}  // namespace

std::thread started_without_signals(const std::function<void()>& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(body);
  pthread_setname_np(thread.native_handle(), "watchdog");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

WatchThread::WatchThread(WatchPlan plan, const ProgressRecord& progress,
                         std::function<void(const std::string&)> end_job)
    : plan_(std::move(plan)),
      progress_(progress),
      end_job_(std::move(end_job)),
      period_(std::clamp(plan_.limit / 10, shortest_period, longest_period)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_(started_without_signals([this] { run(); })) {}

WatchThread::~WatchThread() {
  stopping_ = true;
  const std::uint64_t one = 1;
  // if this fails, the thread wakes within its period
  [[maybe_unused]] const ssize_t written = write(wake_.descriptor(), &one, sizeof one);
  thread_.join();
}

void WatchThread::run() {
  try {
    watch();
    return;
  } catch (const std::exception& error) {
    spdlog::warn("watchdog: rank {} on {} is watched no more: {}", plan_.rank, own().host, error.what());
  }
  try {
    send_to_all(WatchMessage::Kind::farewell);
  } catch (const std::exception&) {
    return;  // the others see the connections close
  }
}

void WatchThread::watch() {
  double sent_at = steady_seconds();
  send_to_all(WatchMessage::Kind::state);
  while (!stopping_) {
    wait_for_messages();
    const double now = steady_seconds();
    // a batch system may stop the whole job; that time counts against no rank
    passed_ = std::min(now - sent_at, 2 * period_);
    if (passed_ < period_ && !has_lost_rank()) continue;
    sent_at = now;
    add_elapsed_time();
    send_to_all(WatchMessage::Kind::state);
    const std::string verdict = verdict_text();
    if (verdict.empty()) continue;
    send_to_all(WatchMessage::Kind::verdict);
    end_job_(verdict);
    return;
  }
  send_to_all(WatchMessage::Kind::farewell);
}

// Detects closed connections at once. Reads messages, of which there may be thousands, twice in a period.
void WatchThread::wait_for_messages() {
  std::vector<pollfd> waiting;
  for (const auto& [rank, link] : plan_.links) {
    waiting.push_back({.fd = link.descriptor(), .events = POLLRDHUP, .revents = 0});  // poll ignores negative ones
  }
  waiting.push_back({.fd = wake_.descriptor(), .events = POLLIN, .revents = 0});
  const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(period_ * 1000 / 2));
  for (std::size_t i = 0; i < plan_.links.size(); ++i) {
    auto& [rank, link] = plan_.links[i];
    if (!link.open() || (ready > 0 && waiting[i].revents == 0)) continue;
    for (const WatchMessage& message : link.receive()) record_message(rank, message);
    WatchedRank& watched = plan_.ranks[static_cast<std::size_t>(rank)];
    if (!link.open() && watched.contact == Contact::present) watched.contact = Contact::lost;
  }
}

bool WatchThread::has_lost_rank() const {
  return std::any_of(plan_.ranks.begin(), plan_.ranks.end(),
                     [](const WatchedRank& rank) { return rank.contact == Contact::lost; });
}

void WatchThread::record_message(int rank, const WatchMessage& message) {
  if (message.token != plan_.token || message.rank != rank) return;
  WatchedRank& watched = plan_.ranks[static_cast<std::size_t>(rank)];
  watched.silent = 0;
  if (message.kind == WatchMessage::Kind::farewell) watched.contact = Contact::left;
  if (message.kind == WatchMessage::Kind::verdict) {
    watched.contact = Contact::ends_job;
    ending_ = most_seconds_to_end + 2 * period_;
  }
  if (message.kind == WatchMessage::Kind::welcome) return;
  watched.progress = message.progress;
  watched.stuck = message.stuck;
}

void WatchThread::add_elapsed_time() {
  for (auto& [rank, link] : plan_.links) {
    WatchedRank& watched = plan_.ranks[static_cast<std::size_t>(rank)];
    if (watched.contact != Contact::left) watched.silent += passed_;
  }
  const ProgressSnapshot now = progress_.snapshot();
  own().stuck = now.steps == own().progress.steps ? own().stuck + passed_ : 0;
  own().progress = now;
}

WatchMessage WatchThread::message(WatchMessage::Kind kind) const {
  const WatchedRank& mine = plan_.ranks[static_cast<std::size_t>(plan_.rank)];
  return {.token = plan_.token, .rank = plan_.rank, .kind = kind, .progress = mine.progress, .stuck = mine.stuck};
}

void WatchThread::send_to_all(WatchMessage::Kind kind) {
  for (auto& [rank, link] : plan_.links) link.send(message(kind));
}

void WatchThread::find_stopped_on_own_host() {
  for (WatchedRank& watched : plan_.ranks) {
    watched.stopped = watched.host == own().host && watched.silent > 2 * period_ && is_stopped(watched.process);
  }
}

// The message to print if the job must end.
std::string WatchThread::verdict_text() {
  if (another_rank_ends_job()) return "";
  if (plan_.watchers.has(plan_.rank)) {
    find_stopped_on_own_host();
    const auto judgement = judge(plan_.ranks, plan_.limit);
    if (!judgement) deferred_ = 0;
    return judgement && may_judge() ? watchdog_text(*judgement, plan_.ranks) : "";
  }
  if (!hears_no_watcher()) return "";
  return "glinpack: watchdog: rank " + std::to_string(plan_.rank) + " on " + own().host +
         " hears nothing of the ranks that watch the job: their hosts or the network to them have failed\n" +
         line_of_rank(plan_.rank, own());
}

// True while another rank has time to end the job. If ending the job hangs, that process is killed, and the remaining
// watcher judges.
bool WatchThread::another_rank_ends_job() {
  if (ending_ <= 0) return false;
  ending_ -= passed_;
  return true;
}

// The second watcher waits a little for the first one's verdict, unless the first one has failed.
bool WatchThread::may_judge() {
  if (plan_.rank == plan_.watchers.first) return true;
  const WatchedRank& first = plan_.ranks[static_cast<std::size_t>(plan_.watchers.first)];
  if (first.contact != Contact::present || first.silent >= plan_.limit) return true;
  deferred_ += passed_;
  return deferred_ > head_start;
}

// No progress for the limit, and no message from any watcher.
bool WatchThread::hears_no_watcher() const {
  if (plan_.ranks[static_cast<std::size_t>(plan_.rank)].stuck < plan_.limit) return false;
  return std::all_of(plan_.links.begin(), plan_.links.end(), [this](const auto& link) {
    const WatchedRank& watcher = plan_.ranks[static_cast<std::size_t>(link.first)];
    const bool gone = watcher.contact == Contact::lost || watcher.contact == Contact::ends_job;
    return gone || watcher.silent >= plan_.limit;
  });
}

}  // namespace glinpack
