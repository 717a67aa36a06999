// Signals that request the end of a run, and the agreement of its ranks on the last pass.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "base/matrix_view.hpp"

namespace glinpack {

/// What SIGUSR1 requests.
enum class UserSignal { end, checkpoint };

/// Catches SIGTERM, SIGUSR1 and SIGINT during its lifetime. The first signal requests an end; another one at least a
/// second later ends the process by its default action. Earlier ones are the same request, since launchers and batch
/// systems forward a signal in several ways. After a request, signals stay caught. One object at a time.
class StopSignals {
 public:
  /// `prints`: a notice of the first signal on stderr. SIGUSR1 may request a checkpoint instead, any number of times.
  explicit StopSignals(bool prints, UserSignal user_signal = UserSignal::end);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();
};

/// The signal that requested the end on this rank, 0 for none.
int stop_signal();
/// Collective: makes the signal of any rank that of all ranks, and returns it. Ranks that act alike must use the
/// result: stop_signal() may change on some of them at any moment.
int share_stop_signal(MPI_Comm communicator);
/// Whether SIGUSR1 has requested a checkpoint on this rank since the last call of forget_checkpoint_request().
bool checkpoint_requested();
void forget_checkpoint_request();
/// "SIGTERM", ...
std::string name_of_signal(int signal);

/// The number of passes between two reductions of PassAgreement, so that there is one in about `seconds`; 0: in every
/// pass. At most twice as many as were `measured`: the first pass of a run may be far shorter than the others. Pure.
inline constexpr double seconds_between_questions = 0.5;
Index passes_between_questions(double seconds_per_pass, Index measured, double seconds = seconds_between_questions);

/// What a rank tells the others from time to time; as an answer, what is true on any of them.
struct PassRequests {
  bool end = false;         // a signal has requested the end
  bool checkpoint = false;  // one is due
  bool writing = false;     // the last checkpoint is not on the disk yet
};

/// The agreement of a communicator's ranks on what they do before the same pass. From time to time they start a
/// non-blocking reduction, whose result they have a pass later.
class PassAgreement {
 public:
  /// For passes first ... end - 1. `collective`: the same on every rank; false if ranks send no messages: each does
  /// what it requests itself. `seconds`: between reductions.
  PassAgreement(MPI_Comm communicator, Index first, Index end, bool collective,
                double seconds = seconds_between_questions);
  PassAgreement(const PassAgreement&) = delete;
  PassAgreement& operator=(const PassAgreement&) = delete;
  /// Called by all ranks before every pass, in order. An answer comes on all of them before the same pass.
  std::optional<PassRequests> before(Index pass, const PassRequests& mine);
  /// Call after the passes; all ranks have ended before the same one. Waits for the pending reduction.
  void finish();
  /// After that: an earlier pass is the next one, the same on all ranks.
  void continue_from(Index pass);

 private:
  using Clock = std::chrono::steady_clock;

  void ask(Index pass, const PassRequests& mine);
  PassRequests answer(Index pass);

  MPI_Comm communicator_;
  Index end_;
  bool collective_;
  double seconds_;
  Index next_question_;
  Index asked_before_;  // the pass of the last reduction
  Index measured_ = 0;  // passes before it, since the one before
  Clock::time_point asked_at_ = Clock::now();
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<double, 4> most_{};  // maxima over the ranks: seconds per pass; 1 for each request
};

}  // namespace glinpack
