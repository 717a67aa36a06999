#include "vulkan/devices.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "host/host_memory.hpp"

namespace glinpack::vulkan {
namespace {

/// What the device lacks; empty if it has all.
std::string missing_of(const Instance& instance, VkPhysicalDevice physical,
                       const VkPhysicalDeviceProperties& properties) {
  if (properties.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
  for (const char* extension : required_extensions()) {
    if (!has_extension(instance, physical, extension)) return extension;
  }
  VkPhysicalDeviceVulkan12Features core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &core;
  instance.GetPhysicalDeviceFeatures2(physical, &features);
  if (core.timelineSemaphore == VK_FALSE) return "timeline semaphores";
  if (core.hostQueryReset == VK_FALSE) return "hostQueryReset";
  if (features.features.shaderFloat64 == VK_FALSE) return "double precision";
  return {};
}

/// Sets int8_matrices and half_matrices.
void describe_matrices(const Instance& instance, VkPhysicalDevice physical, DeviceDescription& description) {
  if (instance.cooperative_matrix_properties == nullptr ||
      !has_extension(instance, physical, cooperative_matrix_extension)) {
    return;
  }
  CooperativeMatrixFeatures matrices;
  VkPhysicalDeviceVulkan12Features core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  core.pNext = &matrices;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &core;
  instance.GetPhysicalDeviceFeatures2(physical, &features);
  if (!(matrices.cooperative_matrix && core.bufferDeviceAddress && core.shaderInt8 && core.shaderFloat16 &&
        core.vulkanMemoryModel && features.features.shaderInt64)) {
    return;
  }
  std::uint32_t count = 0;
  instance.cooperative_matrix_properties(physical, &count, nullptr);
  std::vector<CooperativeMatrixProperties> kinds(count);
  instance.cooperative_matrix_properties(physical, &count, kinds.data());
  using Kind = CooperativeMatrixProperties;
  const auto has = [&](std::uint32_t k, std::uint32_t factor, std::uint32_t sum) {
    return std::ranges::any_of(kinds, [&](const Kind& kind) {
      return kind.m == 16 && kind.n == 16 && kind.k == k && kind.a == factor && kind.b == factor && kind.c == sum &&
             kind.result == sum && kind.saturates == VK_FALSE && kind.scope == Kind::subgroup;
    });
  };
  description.int8_matrices = has(32, Kind::int8, Kind::int32);
  description.half_matrices = has(16, Kind::float16, Kind::float32);
}

/// The largest heap in the memory of the device.
std::uint32_t heap_of(const VkPhysicalDeviceMemoryProperties& memory) {
  std::uint32_t largest = 0;
  VkDeviceSize size = 0;
  for (std::uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
    if ((memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0 ||
        memory.memoryHeaps[heap].size <= size)
      continue;
    largest = heap;
    size = memory.memoryHeaps[heap].size;
  }
  return largest;
}

std::int64_t host_memory(const std::string& wanted) { return number_named("/proc/meminfo", wanted).value_or(0) * 1024; }

}  // namespace

bool has_extension(const Instance& instance, VkPhysicalDevice physical, std::string_view wanted) {
  std::uint32_t count = 0;
  instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count, all.data());
  return std::ranges::any_of(all, [&](const auto& extension) { return extension.extensionName == wanted; });
}

std::vector<const char*> required_extensions() {
  return {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
}

std::vector<VkPhysicalDevice> physical_devices(const Instance& instance) {
  std::uint32_t count = 0;
  require(instance.EnumeratePhysicalDevices(instance.handle, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  require(instance.EnumeratePhysicalDevices(instance.handle, &count, devices.data()), "vkEnumeratePhysicalDevices");
  return devices;
}

std::int64_t free_memory_of(const Instance& instance, VkPhysicalDevice physical, bool software) {
  if (software) return host_memory("MemAvailable");
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  if (has_extension(instance, physical, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) memory.pNext = &budget;
  instance.GetPhysicalDeviceMemoryProperties2(physical, &memory);
  const std::uint32_t heap = heap_of(memory.memoryProperties);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(budget.heapBudget[heap]) - static_cast<std::int64_t>(budget.heapUsage[heap]));
}

std::string uuid_of(const Instance& instance, VkPhysicalDevice physical) {
  VkPhysicalDeviceIDProperties id{};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &id;
  instance.GetPhysicalDeviceProperties2(physical, &all);
  return fmt::format("{:02x}", fmt::join(id.deviceUUID, ""));
}

DeviceDescription describe(const Instance& instance, VkPhysicalDevice physical, int index) {
  VkPhysicalDeviceVulkan12Properties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceVulkan11Properties core{};
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  core.pNext = &driver;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &core;
  instance.GetPhysicalDeviceProperties2(physical, &all);
  const VkPhysicalDeviceProperties& properties = all.properties;
  DeviceDescription description;
  description.api = "Vulkan";
  description.index = index;
  description.software = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  description.vendor = driver.driverName;
  description.renderer = properties.deviceName;
  description.version = fmt::format("Vulkan {}.{}.{} {} {}", VK_API_VERSION_MAJOR(properties.apiVersion),
                                    VK_API_VERSION_MINOR(properties.apiVersion),
                                    VK_API_VERSION_PATCH(properties.apiVersion), driver.driverName, driver.driverInfo);
  description.uuid = uuid_of(instance, physical);
  VkPhysicalDeviceMemoryProperties memory{};
  instance.GetPhysicalDeviceMemoryProperties(physical, &memory);
  description.total_memory = description.software ? host_memory("MemTotal")
                                                  : static_cast<std::int64_t>(memory.memoryHeaps[heap_of(memory)].size);
  description.free_memory = free_memory_of(instance, physical, description.software);
  description.storage_block = properties.limits.maxStorageBufferRange;
  description.shared_memory = properties.limits.maxComputeSharedMemorySize;
  description.invocations = properties.limits.maxComputeWorkGroupInvocations;
  constexpr VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                            VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  if ((core.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
      (core.subgroupSupportedOperations & needed) == needed) {
    description.subgroup_size = static_cast<int>(core.subgroupSize);
  }
  if (core.subgroupSize == 32) describe_matrices(instance, physical, description);
  const std::string missing = missing_of(instance, physical, properties);
  description.usable = missing.empty();
  if (!missing.empty()) description.why_unusable = "the driver has no " + missing + ": install a newer one";
  return description;
}

std::vector<DeviceDescription> list_devices() {
  std::vector<DeviceDescription> devices;
  try {
    const Instance& instance = instance_of_process(false);
    for (VkPhysicalDevice physical : physical_devices(instance)) {
      devices.push_back(describe(instance, physical, static_cast<int>(devices.size())));
    }
  } catch (const std::exception& error) {
    spdlog::debug("no Vulkan device: {}", error.what());
  }
  return devices;
}

std::vector<std::string> driver_variables() {
  std::vector<std::string> found;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT",
                           "VK_LOADER_DRIVERS_DISABLE", "MESA_VK_DEVICE_SELECT"}) {
    if (const char* value = std::getenv(name)) found.push_back(std::string(name) + "=" + value);
  }
  return found;
}

}  // namespace glinpack::vulkan
