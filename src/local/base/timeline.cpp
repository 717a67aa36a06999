#include "base/timeline.hpp"

namespace glinpack {

void Timeline::restart() {
  intervals_.clear();
  epoch_ = std::chrono::steady_clock::now();
  leave_passes();
}

double Timeline::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_).count();
}

void Timeline::enter_pass(Index pass, Role role) {
  pass_ = static_cast<std::int32_t>(pass);
  role_ = role;
  if (progress_ != nullptr) progress_->enter_pass(pass_);
}

Timeline::Scope Timeline::scope(Lane lane, Phase phase, std::int64_t bytes, double flops, std::int32_t messages) {
  const Phase counted = phase_of(phase);
  resume(counted);
  const double start = now();
  return {*this, Interval{start, start, flops, bytes, pass_, role_, lane, counted, messages}};
}

}  // namespace glinpack
