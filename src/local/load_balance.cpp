#include "local/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace glinpack {
namespace {

constexpr double shortest = 1e-9;  // a coarse clock must not make a ratio 0 or infinite
constexpr double weight = 0.5;     // of the last measurement

}  // namespace

LoadBalance LoadBalance::fixed(double ratio, Index count) {
  if (!(ratio >= 0)) throw std::invalid_argument("a load ratio is at least 0");
  LoadBalance balance;
  balance.share_of_device_ = static_cast<Index>(std::llround(static_cast<double>(count) / (1 + ratio)));
  balance.set_ratio(ratio);
  return balance;
}

LoadBalance LoadBalance::automatic(double host_seconds, double device_seconds) {
  LoadBalance balance;
  balance.host_seconds_ = std::max(shortest, host_seconds);
  balance.device_seconds_ = std::max(shortest, device_seconds);
  balance.set_ratio(balance.device_seconds_ / balance.host_seconds_);
  return balance;
}

void LoadBalance::note_host(double seconds) {
  if (share_of_device_) return;
  host_seconds_ += weight * (std::max(shortest, seconds) - host_seconds_);
  set_ratio(device_seconds_ / host_seconds_);
}

void LoadBalance::note_device(double seconds) {
  if (share_of_device_) return;
  device_seconds_ += weight * (std::max(shortest, seconds) - device_seconds_);
  set_ratio(device_seconds_ / host_seconds_);
}

void LoadBalance::set_ratio(double ratio) {
  ratio_ = ratio;
  history_.push_back(ratio);
}

bool LoadBalance::next_to_device(Index outstanding, Index unassigned) const {
  if (unassigned <= 0) return false;
  if (share_of_device_) return given_to_device_ < *share_of_device_;
  const double enough = 1 + std::max(1.0, std::ceil(1 / ratio_));
  const auto with_this = static_cast<double>(outstanding + 1);
  return with_this <= enough && with_this * ratio_ <= static_cast<double>(unassigned);
}

}  // namespace glinpack
