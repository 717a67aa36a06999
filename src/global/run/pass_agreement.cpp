#include "run/pass_agreement.hpp"

#include <algorithm>

#include "mpi/communication.hpp"

namespace glinpack {

Index passes_between_questions(double seconds_per_pass, Index measured, double seconds) {
  const Index max_passes = std::min<Index>(1000, 2 * measured);
  if (!(seconds_per_pass * static_cast<double>(max_passes) > seconds)) return max_passes;
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
  maxima_ = {seconds.count() / static_cast<double>(measured_), as_number(mine.end), as_number(mine.checkpoint),
             as_number(mine.writing)};
  asked_before_ = pass;
  asked_at_ = Clock::now();
  GLINPACK_MPI(MPI_Iallreduce(MPI_IN_PLACE, maxima_.data(), static_cast<int>(maxima_.size()), MPI_DOUBLE, MPI_MAX,
                              communicator_, &request_));
}

PassRequests PassAgreement::answer(Index pass) {
  wait(request_, Pending::with_all_of(communicator_));
  next_question_ = pass + passes_between_questions(maxima_[0], measured_, seconds_);
  return {.end = maxima_[1] > 0, .checkpoint = maxima_[2] > 0, .writing = maxima_[3] > 0};
}

}  // namespace glinpack
