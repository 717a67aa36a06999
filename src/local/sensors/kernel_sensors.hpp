// Sensors in the kernel's files. RAPL: energy counters of processor packages and their memory by Intel and AMD, in the
// powercap folder (Documentation/power/powercap/powercap.rst). hwmon: a GPU's readings by the drivers amdgpu, i915, xe
// and nouveau (Documentation/hwmon/sysfs-interface.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"

namespace glinpack::sensors {

/// The first line, without its end. None if it cannot be read, with the reason in errno.
std::optional<std::string> line_of(const std::string& path);
/// The whole number, at least 0, at the start of a file; none if there is none.
std::optional<std::uint64_t> number_of(const std::string& path);
/// Sorted names in a folder; empty without the folder.
std::vector<std::string> names_in(const std::string& folder);

/// Whether a name is a PCI address such as "0000:19:00.0".
bool is_pci_address(std::string_view name);
/// The PCI address of a DRM file ("/dev/dri/card0", or a render node); none if the kernel does not report it. `root`:
/// prefix of /sys.
std::optional<std::string> pci_address_of(const std::string& root, const std::string& drm_file);

/// energy1_input (microjoules), power1_average or power1_input (microwatts), freq1_input and freq2_input (hertz),
/// temp1_input (thousandths of a degree), power1_cap. Null if the device has none of the first three.
std::unique_ptr<Sensor> find_hwmon_sensor(const std::string& root, const std::string& drm_file);

/// Makes a counter that wraps to 0 above `range` monotonic. It must be read at least once per wrap.
class WrappingCounter {
 public:
  /// `range`: its largest value. 0 if unknown: a decrease then restarts the count from 0.
  explicit WrappingCounter(std::uint64_t range) : range_(range) {}
  /// The increase since the first value.
  std::uint64_t advance(std::uint64_t value);

 private:
  std::uint64_t range_;
  std::uint64_t total_ = 0;
  std::optional<std::uint64_t> last_;
};

/// `root`: prefix of /sys. Packages ("package-0") and their memory ("dram-0"). Other zones would count twice: they are
/// parts of these, contain them (psys), or are the same zones in another driver (intel-rapl-mmio).
FoundSensors find_rapl_sensors(const std::string& root);

}  // namespace glinpack::sensors
