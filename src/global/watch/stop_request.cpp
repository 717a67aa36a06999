#include "watch/stop_request.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

struct NamedSignal {
  int number;
  const char* name;
  const char* notice;
};
constexpr std::array<NamedSignal, 3> stop_signals{
    {{SIGTERM, "SIGTERM", "glinpack: SIGTERM: ends at the next pass and reports; once more ends at once\n"},
     {SIGUSR1, "SIGUSR1", "glinpack: SIGUSR1: ends at the next pass and reports; once more ends at once\n"},
     {SIGINT, "SIGINT", "glinpack: SIGINT: ends at the next pass and reports; once more ends at once\n"}}};

constexpr const char* checkpoint_notice = "glinpack: SIGUSR1: writes a checkpoint at the next pass\n";

std::atomic<int> requested{0};
std::atomic<bool> user_signal_saves{false};
std::atomic<bool> checkpoint_wanted{false};
std::atomic<std::int64_t> requested_at{0};  // CLOCK_MONOTONIC, nanoseconds; 0: no signal has come to this rank
std::atomic<bool> prints_notice{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

constexpr std::int64_t nanoseconds_of_one_request = 1'000'000'000;

std::array<struct sigaction, stop_signals.size()> before;

// All of this may be called by a signal handler (signal-safety(7)).
std::int64_t nanoseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// False if a request is already recorded.
bool note_request(int number) {
  int none = 0;
  return requested.compare_exchange_strong(none, number);
}

/// False if a signal has come before.
bool note_first_signal(std::int64_t nanoseconds) {
  std::int64_t none = 0;
  return requested_at.compare_exchange_strong(none, nanoseconds);
}

void print_notice(const char* notice) {
  if (!prints_notice) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, notice, std::strlen(notice));
}

void on_signal(int number) {
  const int error = errno;
  const std::int64_t nanoseconds = nanoseconds_now();
  if (number == SIGUSR1 && user_signal_saves) {
    if (!checkpoint_wanted.exchange(true)) print_notice(checkpoint_notice);
  } else if (note_first_signal(nanoseconds)) {
    const bool is_new = note_request(number);
    for (const NamedSignal& one : stop_signals) {
      if (is_new && one.number == number) print_notice(one.notice);
    }
  } else if (nanoseconds - requested_at >= nanoseconds_of_one_request) {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = error;
}

}  // namespace

StopSignals::StopSignals(bool prints, UserSignal user_signal) {
  requested = 0;
  requested_at = 0;
  user_signal_saves = user_signal == UserSignal::checkpoint;
  checkpoint_wanted = false;
  prints_notice = prints;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const NamedSignal& one : stop_signals) sigaddset(&action.sa_mask, one.number);
  for (std::size_t i = 0; i < stop_signals.size(); ++i) sigaction(stop_signals[i].number, &action, &before[i]);
}

// Launchers may forward a signal again, which must not kill a program that is about to report and exit.
StopSignals::~StopSignals() {
  if (stop_signal() != 0) return;
  for (std::size_t i = 0; i < stop_signals.size(); ++i) sigaction(stop_signals[i].number, &before[i], nullptr);
}

int stop_signal() { return requested; }

// A launcher may bring this rank the same signal a second later: it is the rank's first one.
int share_stop_signal(MPI_Comm communicator) {
  int most = stop_signal();
  all_reduce(communicator, &most, 1, MPI_INT, MPI_MAX);
  if (most != 0) note_request(most);
  return most;
}

bool checkpoint_requested() { return checkpoint_wanted; }

void forget_checkpoint_request() { checkpoint_wanted = false; }

std::string name_of_signal(int signal) {
  for (const NamedSignal& one : stop_signals) {
    if (one.number == signal) return one.name;
  }
  return "signal " + std::to_string(signal);
}

Index passes_between_questions(double seconds_per_pass, Index measured, double seconds) {
  const Index most = std::min<Index>(1000, 2 * measured);
  if (!(seconds_per_pass * static_cast<double>(most) > seconds)) return most;
  return static_cast<Index>(seconds / seconds_per_pass);
}

PassAgreement::PassAgreement(MPI_Comm communicator, Index first, Index end, bool collective, double seconds)
    : communicator_(communicator),
      end_(end),
      collective_(collective),
      seconds_(seconds),
      next_question_(first + 1),
      asked_before_(first) {}

void PassAgreement::finish() {
  if (request_ != MPI_REQUEST_NULL) wait(request_, Pending::with_all_of(communicator_));
}

void PassAgreement::continue_from(Index pass) {
  finish();
  next_question_ = pass + 1;
  asked_before_ = pass;
  asked_at_ = Clock::now();
}

std::optional<PassRequests> PassAgreement::before(Index pass, const PassRequests& mine) {
  if (!collective_) return mine;
  if (request_ != MPI_REQUEST_NULL) return answer(pass);
  if (pass >= next_question_ && pass + 1 < end_) ask(pass, mine);
  return std::nullopt;
}

void PassAgreement::ask(Index pass, const PassRequests& mine) {
  const std::chrono::duration<double> seconds = Clock::now() - asked_at_;
  measured_ = pass - asked_before_;
  const auto as_number = [](bool request) { return request ? 1.0 : 0.0; };
  most_ = {seconds.count() / static_cast<double>(measured_), as_number(mine.end), as_number(mine.checkpoint),
           as_number(mine.writing)};
  asked_before_ = pass;
  asked_at_ = Clock::now();
  GLINPACK_MPI(MPI_Iallreduce(MPI_IN_PLACE, most_.data(), static_cast<int>(most_.size()), MPI_DOUBLE, MPI_MAX,
                              communicator_, &request_));
}

PassRequests PassAgreement::answer(Index pass) {
  wait(request_, Pending::with_all_of(communicator_));
  next_question_ = pass + passes_between_questions(most_[0], measured_, seconds_);
  return {.end = most_[1] > 0, .checkpoint = most_[2] > 0, .writing = most_[3] > 0};
}

}  // namespace glinpack
