// Intel's and AMD's energy counters of processor packages and their memory, as the kernel's powercap folder has them
// (Documentation/power/powercap/powercap.rst).
#pragma once

#include <cstdint>
#include <optional>

#include "local/sensors/sensor.hpp"

namespace glinpack::sensors {

/// A counter that starts again at 0 above `range`, as one that never falls. It must be read at least once a round.
class WrappingCounter {
 public:
  /// `range`: its largest value; 0 where unknown: then a fall is a new start, and what came before it is lost.
  explicit WrappingCounter(std::uint64_t range) : range_(range) {}
  /// How far it has come since the first value.
  std::uint64_t advance(std::uint64_t value);

 private:
  std::uint64_t range_;
  std::uint64_t total_ = 0;
  std::optional<std::uint64_t> last_;
};

/// `root` stands before /sys. Packages ("package-0") and their memory ("dram-0"); other zones are parts of these, or,
/// as psys, contain them, and the same zones through another door (intel-rapl-mmio) would count twice.
FoundSensors find_rapl_sensors(const std::string& root);

}  // namespace glinpack::sensors
