// A GPU's readings in the kernel's hardware monitoring (Documentation/hwmon/sysfs-interface.rst), as the drivers
// amdgpu, i915, xe and nouveau have them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "local/sensors/sensor.hpp"

namespace glinpack::sensors {

/// Whether a name is that of a device on the PCI bus, as "0000:19:00.0".
bool is_pci_address(std::string_view name);
/// The PCI address of a DRM file ("/dev/dri/card0", or a render node); none where the kernel does not
/// say. `root` stands before /sys.
std::optional<std::string> pci_address_of(const std::string& root, const std::string& drm_file);

/// energy1_input (microjoules), power1_average or power1_input (microwatts), freq1_input and freq2_input (hertz),
/// temp1_input (thousandths of a degree), power1_cap. Null where the device has none of the first three.
std::unique_ptr<Sensor> find_hwmon_sensor(const std::string& root, const std::string& drm_file);

}  // namespace glinpack::sensors
