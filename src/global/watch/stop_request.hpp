// Signals that request the end of a run, and the agreement of its ranks on the last pass.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <string>

#include "backend/matrix_view.hpp"

namespace glinpack {

/// Catches SIGTERM, SIGUSR1 and SIGINT during its lifetime. The first signal requests an end; another one at least a
/// second later ends the process by its default action. Earlier ones are the same request, since launchers and batch
/// systems forward a signal in several ways. After a request, signals stay caught. One object at a time.
class StopSignals {
 public:
  /// `prints`: a notice of the first signal on stderr.
  explicit StopSignals(bool prints);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();
};

/// The signal that requested the end on this rank, 0 for none.
int stop_signal();
/// Collective: makes the signal of any rank that of all ranks.
void share_stop_signal(MPI_Comm communicator);
/// "SIGTERM", ...
std::string name_of_signal(int signal);

/// The number of passes between two reductions of StopAgreement, so that there is one in about
/// seconds_between_questions; 0: in every pass. Pure.
Index passes_between_questions(double seconds_per_pass);
inline constexpr double seconds_between_questions = 0.5;

/// The agreement of a communicator's ranks to end a factorisation before the same pass. From time to time they start a
/// non-blocking reduction, whose result they have a pass later.
class StopAgreement {
 public:
  /// `passes`: their number. `collective`: the same on every rank; false if ranks send no messages: each ends at its
  /// own signal.
  StopAgreement(MPI_Comm communicator, Index passes, bool collective);
  StopAgreement(const StopAgreement&) = delete;
  StopAgreement& operator=(const StopAgreement&) = delete;
  /// Called by all ranks before every pass, in order. True: end here. If collective, on all ranks before the same pass.
  bool ends_before(Index pass);
  /// Call after the passes; all ranks have ended before the same one. Waits for the pending reduction.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void ask(Index pass);
  bool answered(Index pass);

  MPI_Comm communicator_;
  Index passes_;
  bool collective_;
  Index next_question_ = 1;
  Index asked_before_ = 0;  // the pass of the last reduction
  Clock::time_point asked_at_ = Clock::now();
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<double, 2> most_{};  // maxima over the ranks: 1 after a signal; seconds per pass
};

}  // namespace glinpack
