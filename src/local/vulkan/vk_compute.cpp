#include "vulkan/vk_compute.hpp"

#include <stdexcept>

#include "compute/ceilings.hpp"
#include "vulkan/device.hpp"
#include "vulkan/devices.hpp"

namespace glinpack::vulkan {

static constexpr std::array variables{"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT",
                                      "VK_LOADER_DRIVERS_DISABLE", "MESA_VK_DEVICE_SELECT"};

const DeviceCatalog device_catalog{
    .api = "Vulkan",
    .noun = "Vulkan device",
    .install = "install a driver (Mesa: mesa-vulkan-drivers)",
    .remedy =
        "vk-compute needs a driver for Vulkan 1.2: install the vendor's driver, or Mesa's\n"
        "software one (Debian: libvulkan1 mesa-vulkan-drivers).\n",
    .list = list_devices,
    .driver_variables = [] { return variables_that_are_set(variables); },
    .driver_variables_text = [] { return text_of_variables(variables_that_are_set(variables)); },
    .measure_peak = compute::measure_peak<open_compute_device>,
    .measure_ceilings = compute::measure_ceilings<open_compute_device>,
};

void check_peer(const std::string& value, Precision) {
  if (value != "auto" && value != "none") throw std::runtime_error("'" + value + "' is not auto or none");
}

std::shared_ptr<ComputeDevice> open_compute_device(const BackendOptions& options) {
  const auto logical = std::make_shared<LogicalDevice>(options);
  return std::make_shared<Device>(logical, logical->kernels);
}

}  // namespace glinpack::vulkan
