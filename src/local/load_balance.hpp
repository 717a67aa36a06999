// How many systems the host solves while a device solves one in the background: the load ratio of A. R. Brodtkorb, The
// Graphics Processor as a Mathematical Coprocessor in MATLAB (2008), section 5.5, set by hand as in the paper, or
// measured and adjusted while they run, which the paper leaves to others (section 6).
#pragma once

#include <optional>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

class LoadBalance {
 public:
  /// `ratio` systems by the host to one by the device, at least 0: of `count` systems, round(count / (1 + ratio)) by
  /// the device.
  static LoadBalance fixed(double ratio, Index count);
  /// Begins with what a system takes either of them, in seconds, more than 0.
  static LoadBalance automatic(double host_seconds, double device_seconds);

  /// Seconds that a system took, both working. Changes the ratio of an automatic balance.
  void note_host(double seconds);
  void note_device(double seconds);

  /// Whether the device is to get the next system: `outstanding` it has not solved yet, `unassigned` nobody has. An
  /// automatic balance gives it no more than keep it busy until the host asks again, and only what it will have solved
  /// before the host could have solved all of the rest.
  bool next_to_device(Index outstanding, Index unassigned) const;
  /// The device got one.
  void give_to_device() { ++given_to_device_; }

  double ratio() const { return ratio_; }
  /// All values that the ratio has had, in order.
  const std::vector<double>& history() const { return history_; }

 private:
  void set_ratio(double ratio);

  std::optional<Index> share_of_device_;  // of a fixed balance
  Index given_to_device_ = 0;
  double host_seconds_ = 0;
  double device_seconds_ = 0;
  double ratio_ = 0;
  std::vector<double> history_;
};

}  // namespace glinpack
