#include "solvers/queue/background.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace glinpack {
namespace {

constexpr double shortest = 1e-9;  // a coarse clock must not make a ratio 0 or infinite
constexpr double weight = 0.5;     // of the last measurement

void average(double& seconds, double measured) { seconds += weight * (std::max(shortest, measured) - seconds); }

}  // namespace

LoadBalance::LoadBalance(double host_seconds, double device_seconds)
    : alone_{host_seconds, device_seconds}, both_(alone_), history_{ratio()} {}

LoadBalance LoadBalance::fixed(double ratio, Index count) {
  if (!(ratio >= 0)) throw std::invalid_argument("a load ratio is at least 0");
  LoadBalance balance(1, ratio);
  balance.share_of_device_ = static_cast<Index>(std::llround(static_cast<double>(count) / (1 + ratio)));
  return balance;
}

LoadBalance LoadBalance::automatic(double host_seconds, double device_seconds) {
  return {std::max(shortest, host_seconds), std::max(shortest, device_seconds)};
}

void LoadBalance::note_host(double seconds, bool both) {
  if (share_of_device_) return;
  average(both ? both_.host : alone_.host, seconds);
  if (both) history_.push_back(ratio());
}

void LoadBalance::note_device(double seconds, bool both) {
  if (share_of_device_) return;
  average(both ? both_.device : alone_.device, seconds);
  if (both) history_.push_back(ratio());
}

// Compares systems per second.
LoadBalance::Best LoadBalance::best() const {
  const double both = 1 / both_.host + 1 / both_.device, host = 1 / alone_.host, device = 1 / alone_.device;
  if (both >= std::max(host, device)) return Best::both;
  return host >= device ? Best::host : Best::device;
}

bool LoadBalance::next_to_device(Index outstanding, Index unassigned) const {
  if (unassigned <= 0) return false;
  if (share_of_device_) return device_systems_ < *share_of_device_;
  constexpr Index two = 2;  // one in work and one waiting
  if (best() == Best::device) return outstanding < two;
  const double enough = 1 + std::max(1.0, std::ceil(1 / ratio()));
  const auto with_this = static_cast<double>(outstanding + 1);
  return best() == Best::both && with_this <= enough && with_this * ratio() <= static_cast<double>(unassigned);
}

}  // namespace glinpack
