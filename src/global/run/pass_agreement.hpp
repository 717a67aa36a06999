// The agreement of the ranks of a run on its last pass and on the passes after which they save their state.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <optional>

#include "base/matrix_view.hpp"

namespace glinpack {

/// The number of passes between two reductions of PassAgreement, so that there is one in about `seconds`; 0: in every
/// pass. At most twice as many as were `measured`: the first pass of a run may be far shorter than the others. Pure.
inline constexpr double seconds_between_questions = 0.5;
Index passes_between_questions(double seconds_per_pass, Index measured, double seconds = seconds_between_questions);

/// What a rank requests; as an answer, what any rank has requested.
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
  std::array<double, 4> maxima_{};  // over the ranks: seconds per pass; 1 for each request
};

}  // namespace glinpack
