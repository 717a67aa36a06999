// Signals that ask a run to end, and how its ranks agree on where.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <string>

#include "local/matrix_view.hpp"

namespace glinpack {

/// Catches SIGTERM, SIGUSR1 and SIGINT while it lives: the first asks for an end, another one a second or more later
/// ends the process at once, by its default action. What comes sooner is the same request, which launchers and batch
/// systems hand on in several ways. Where one came, all that is caught stays so. One object at a time.
class StopSignals {
 public:
  /// `speaks`: says so on stderr.
  explicit StopSignals(bool speaks);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();
};

/// The signal that asked this rank for an end, 0 where none did.
int stop_signal();
/// Collective: a signal that asked one rank asked all from here on.
void share_stop_signal(MPI_Comm communicator);
/// "SIGTERM", ...
std::string name_of_signal(int signal);

/// After how many passes ranks ask each other again, to do it about once in seconds_between_questions; 0: in every
/// pass. Pure.
Index passes_between_questions(double seconds_per_pass);
inline constexpr double seconds_between_questions = 0.5;

/// How the ranks of a communicator agree, during the passes of a factorisation, that all end before the same one. Now
/// and then they ask each other, in the background, and have the answer a pass later.
class StopAgreement {
 public:
  /// `passes` in all; `enabled`: the same on every rank; false where ranks may leave the passes one by one.
  StopAgreement(MPI_Comm communicator, Index passes, bool enabled);
  StopAgreement(const StopAgreement&) = delete;
  StopAgreement& operator=(const StopAgreement&) = delete;
  /// Called by all ranks before every pass, in order. True on all of them alike: end here.
  bool ends_before(Index pass);
  /// After the passes, which all ranks have left at the same one: waits for what is under way.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void ask(Index pass);
  bool answered(Index pass);

  MPI_Comm communicator_;
  Index passes_;
  bool enabled_;
  Index next_question_ = 1;
  Index asked_before_ = 0;  // this pass the last time
  Clock::time_point asked_at_ = Clock::now();
  MPI_Request under_way_ = MPI_REQUEST_NULL;
  std::array<double, 2> most_{};  // over the ranks: 1 where a signal came; seconds per pass
};

}  // namespace glinpack
