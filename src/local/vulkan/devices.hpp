// The Vulkan devices of this machine, as `glinpack devices` lists them and `--device` counts them.
#pragma once

#include <string_view>
#include <vector>

#include "backend/device_catalog.hpp"
#include "vulkan/functions.hpp"

namespace glinpack::vulkan {

/// In Vulkan's order. Throws std::runtime_error if there is no libvulkan.
std::vector<VkPhysicalDevice> physical_devices(const Instance& instance);

/// Limits, memory and what the device lacks.
DeviceDescription describe(const Instance& instance, VkPhysicalDevice physical, int index);

/// Bytes of memory of the device that can be allocated; 0 if the driver does not report it.
std::int64_t free_memory_of(const Instance& instance, VkPhysicalDevice physical, bool software);

bool has_extension(const Instance& instance, VkPhysicalDevice physical, std::string_view wanted);

/// The extensions that a device must have.
std::vector<const char*> required_extensions();

/// As DeviceCatalog::list.
std::vector<DeviceDescription> list_devices();

}  // namespace glinpack::vulkan
