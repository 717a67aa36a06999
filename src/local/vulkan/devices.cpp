#include "vulkan/devices.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <span>

#include "host/host_memory.hpp"

namespace glinpack::vulkan {
namespace {

struct Features {
  VkPhysicalDeviceFeatures basic;
  VkPhysicalDeviceVulkan12Features core;
  bool cooperative_matrices = false;
};

Features features_of(const Instance& instance, VkPhysicalDevice physical) {
  CooperativeMatrixFeatures matrices;
  const bool is_known = has_extension(instance, physical, cooperative_matrix_extension);
  VkPhysicalDeviceVulkan12Features core{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                        .pNext = is_known ? &matrices : nullptr};
  VkPhysicalDeviceFeatures2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &core};
  instance.GetPhysicalDeviceFeatures2(physical, &all);
  return {all.features, core, matrices.cooperative_matrix == VK_TRUE};
}

/// What the device lacks; empty if it has all.
std::string missing_of(const Instance& instance, VkPhysicalDevice physical, std::uint32_t version,
                       const Features& features) {
  if (version < VK_API_VERSION_1_2) return "Vulkan 1.2";
  for (const char* extension : required_extensions()) {
    if (!has_extension(instance, physical, extension)) return extension;
  }
  if (features.core.timelineSemaphore == VK_FALSE) return "timeline semaphores";
  return features.core.hostQueryReset == VK_FALSE ? "hostQueryReset" : "";
}

/// Sets int8_matrices and half_matrices.
void describe_matrices(const Instance& instance, VkPhysicalDevice physical, const Features& features,
                       DeviceDescription& description) {
  const VkPhysicalDeviceVulkan12Features& core = features.core;
  if (instance.cooperative_matrix_properties == nullptr || !features.cooperative_matrices ||
      !core.bufferDeviceAddress || !core.shaderInt8 || !core.shaderFloat16 || !core.vulkanMemoryModel ||
      !features.basic.shaderInt64) {
    return;
  }
  using Kind = CooperativeMatrixProperties;
  const auto kinds = listed<Kind>([&](std::uint32_t* count, Kind* items) {
    return instance.cooperative_matrix_properties(physical, count, items);
  });
  // 16 x 16 x `depth`, for which there are tuned shaders, or else the largest that shaders/matrix/any_shape.glsl takes
  const auto shape_of = [&](std::uint32_t depth, std::uint32_t factor, std::uint32_t sum) {
    const auto divides = [](std::uint32_t part, std::uint32_t whole) { return part >= 8 && whole % part == 0; };
    CooperativeMatrixShape best;
    for (const Kind& kind : kinds) {
      const CooperativeMatrixShape shape{static_cast<int>(kind.m), static_cast<int>(kind.n), static_cast<int>(kind.k)};
      if (divides(kind.m, 32) && divides(kind.n, 32) && divides(kind.k, depth) && kind.a == factor &&
          kind.b == factor && kind.c == sum && kind.result == sum && kind.saturates == VK_FALSE &&
          kind.scope == Kind::subgroup) {
        if (shape == CooperativeMatrixShape{16, 16, static_cast<int>(depth)}) return shape;
        if (shape.rows * shape.columns * shape.depth > best.rows * best.columns * best.depth) best = shape;
      }
    }
    return best;
  };
  if (features.basic.shaderFloat64) description.int8_matrices = shape_of(32, Kind::int8, Kind::int32);
  description.half_matrices = shape_of(16, Kind::float16, Kind::float32);
}

/// The largest heap in the memory of the device.
std::size_t heap_of(const VkPhysicalDeviceMemoryProperties& memory) {
  const std::span heaps(memory.memoryHeaps, memory.memoryHeapCount);
  const auto largest = std::ranges::max_element(heaps, {}, [](const VkMemoryHeap& heap) {
    return (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 ? heap.size : 0;
  });
  return static_cast<std::size_t>(largest - heaps.begin());
}

}  // namespace

bool has_extension(const Instance& instance, VkPhysicalDevice physical, std::string_view wanted) {
  const auto all = listed<VkExtensionProperties>([&](std::uint32_t* count, VkExtensionProperties* items) {
    instance.EnumerateDeviceExtensionProperties(physical, nullptr, count, items);
  });
  return std::ranges::any_of(all, [&](const auto& extension) { return extension.extensionName == wanted; });
}

std::vector<const char*> required_extensions() {
  return {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
}

std::vector<VkPhysicalDevice> physical_devices(const Instance& instance) {
  return listed<VkPhysicalDevice>([&](std::uint32_t* count, VkPhysicalDevice* items) {
    require(instance.EnumeratePhysicalDevices(instance.handle, count, items), "vkEnumeratePhysicalDevices");
  });
}

std::int64_t free_memory_of(const Instance& instance, VkPhysicalDevice physical, bool software) {
  if (software) return bytes_of_host_memory("MemAvailable");
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  if (has_extension(instance, physical, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) memory.pNext = &budget;
  instance.GetPhysicalDeviceMemoryProperties2(physical, &memory);
  const std::size_t heap = heap_of(memory.memoryProperties);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(budget.heapBudget[heap]) - static_cast<std::int64_t>(budget.heapUsage[heap]));
}

DeviceDescription describe(const Instance& instance, VkPhysicalDevice physical, int index) {
  VkPhysicalDeviceVulkan12Properties driver{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceVulkan11Properties core{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                          .pNext = &driver};
  VkPhysicalDeviceProperties2 all{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &core};
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
  description.uuid = fmt::format("{:02x}", fmt::join(core.deviceUUID, ""));
  VkPhysicalDeviceMemoryProperties memory{};
  instance.GetPhysicalDeviceMemoryProperties(physical, &memory);
  description.total_memory = description.software ? bytes_of_host_memory("MemTotal")
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
  const Features features = features_of(instance, physical);
  description.doubles = features.basic.shaderFloat64 == VK_TRUE;
  description.kernel_queues = 2;  // LogicalDevice's, which may be one of the driver's
  // what shaders/matrix/any_shape.glsl takes of a work group
  constexpr std::int64_t shared_bytes = 23552, subgroups = 4;
  if (description.subgroup_size > 0 && description.shared_memory >= shared_bytes &&
      description.invocations >= subgroups * description.subgroup_size) {
    describe_matrices(instance, physical, features, description);
  }
  const std::string missing = missing_of(instance, physical, properties.apiVersion, features);
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

}  // namespace glinpack::vulkan
