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
  /// Begins with the seconds that a system takes either of them alone. Notices when they hinder each other so much that
  /// one alone is faster, as with a device that is software.
  static LoadBalance automatic(double host_seconds, double device_seconds);

  /// Seconds that a system took. `both`: the other one worked, too. Changes an automatic balance.
  void note_host(double seconds, bool both);
  void note_device(double seconds, bool both);

  /// Whether the device is to get the next system: `outstanding` it has not solved yet, `unassigned` nobody has. An
  /// automatic balance gives it no more than keep it busy until the host asks again, and only what it will have solved
  /// before the host could have solved all of the rest.
  bool next_to_device(Index outstanding, Index unassigned) const;
  /// Whether the host, with nothing else to do, is to solve a system itself.
  bool next_to_host() const { return share_of_device_ || best() != Best::device; }
  /// The device got one.
  void give_to_device() { ++given_to_device_; }

  /// Of the times measured last while both worked.
  double ratio() const { return both_.device / both_.host; }
  /// All values that the ratio has had, in order.
  const std::vector<double>& history() const { return history_; }

 private:
  struct Seconds {
    double host = 1;
    double device = 1;
  };
  enum class Best { both, host, device };

  LoadBalance(double host_seconds, double device_seconds);
  Best best() const;

  std::optional<Index> share_of_device_;  // of a fixed balance
  Index given_to_device_ = 0;
  Seconds alone_;
  Seconds both_;
  std::vector<double> history_;
};

}  // namespace glinpack
