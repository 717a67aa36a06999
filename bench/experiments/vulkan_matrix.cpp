// Cooperative matrices of a Vulkan device: what it offers, and the rate of plain products on them.
//
//   g++ -std=c++20 -O2 vulkan_matrix.cpp -o vulkan_matrix -ldl
//   ./build_spir_v.sh DIRECTORY                         # needs glslang 15, see there
//   ./vulkan_matrix [DIRECTORY]                         # DIRECTORY holds the .spv files
//
//   "subgroup property"    a shape of VK_KHR_cooperative_matrix; types as in `component_name`
//   "flexible property"    a granularity of VK_NV_cooperative_matrix2
//   "product"              one kernel: subgroup*.spv straight from device memory, shared_*.spv from tiles in shared
//                          memory, workgroup.spv with work-group scope (VK_NV_cooperative_matrix2)
#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

// Debian 12's headers (1.3.239) do not have these extensions.
struct CooperativeMatrixProperties {
  VkStructureType type = static_cast<VkStructureType>(1000506001);
  void* next = nullptr;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t a = 0, b = 0, c = 0, result = 0;
  VkBool32 saturates = 0;
  std::uint32_t scope = 0;
};

struct CooperativeMatrixFeatures {
  VkStructureType type = static_cast<VkStructureType>(1000506000);
  void* next = nullptr;
  VkBool32 cooperative_matrix = 0, robust_buffer_access = 0;
};

struct FlexibleDimensions {
  VkStructureType type = static_cast<VkStructureType>(1000593001);
  void* next = nullptr;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t a = 0, b = 0, c = 0, result = 0;
  VkBool32 saturates = 0;
  std::uint32_t scope = 0, invocations = 0;
};

struct CooperativeMatrix2Features {
  VkStructureType type = static_cast<VkStructureType>(1000593000);
  void* next = nullptr;
  VkBool32 workgroup_scope = 0, flexible_dimensions = 0, reductions = 0, conversions = 0, per_element = 0,
           tensor_addressing = 0, block_loads = 0;
};

struct CooperativeMatrix2Properties {
  VkStructureType type = static_cast<VkStructureType>(1000593002);
  void* next = nullptr;
  std::uint32_t largest_work_group = 0, largest_dimension = 0, reserved_shared_memory = 0;
};

using GetMatrixProperties = VkResult (*)(VkPhysicalDevice, std::uint32_t*, CooperativeMatrixProperties*);
using GetFlexibleDimensions = VkResult (*)(VkPhysicalDevice, std::uint32_t*, FlexibleDimensions*);

std::string component_name(std::uint32_t type) {
  constexpr std::array<const char*, 11> names{"f16", "f32", "f64", "s8",  "s16", "s32",
                                              "s64", "u8",  "u16", "u32", "u64"};
  if (type < names.size()) return names[type];
  if (type == 1000141000) return "bf16";
  if (type == 1000491002) return "e4m3";
  if (type == 1000491003) return "e5m2";
  return std::to_string(type);
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) fail(std::string(what) + ": " + std::to_string(result));
}

PFN_vkGetInstanceProcAddr get_instance_function = nullptr;
VkInstance instance = VK_NULL_HANDLE;

template <class Function>
Function function(const char* name) {
  return reinterpret_cast<Function>(get_instance_function(instance, name));
}
/// Calls a Vulkan function by name, for example CALL(vkCreateBuffer)(device, ...).
#define CALL(name) function<PFN_##name>(#name)

struct Device {
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice handle = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<std::string> extensions;
  std::vector<CooperativeMatrixProperties> shapes;
  std::vector<FlexibleDimensions> flexible;
  std::uint32_t largest_dimension = 0;
  bool workgroup_matrices = false;

  bool has(const char* name) const { return std::find(extensions.begin(), extensions.end(), name) != extensions.end(); }
};

struct Buffer {
  VkBuffer handle = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize bytes = 0;
  void* mapped = nullptr;
};

void open_instance() {
  void* library = dlopen("libvulkan.so.1", RTLD_NOW);
  if (!library) fail("no libvulkan.so.1");
  get_instance_function = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  check(CALL(vkCreateInstance)(&info, nullptr, &instance), "vkCreateInstance");
}

/// Picks the first GPU that is no software renderer, else the first, and prints what it offers.
void describe(Device& device) {
  std::uint32_t count = 0;
  CALL(vkEnumeratePhysicalDevices)(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  CALL(vkEnumeratePhysicalDevices)(instance, &count, devices.data());
  if (devices.empty()) fail("no Vulkan device");
  device.physical = devices.front();
  for (VkPhysicalDevice candidate : devices) {
    VkPhysicalDeviceProperties properties{};
    CALL(vkGetPhysicalDeviceProperties)(candidate, &properties);
    if (properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) {
      device.physical = candidate;
      break;
    }
  }
  CooperativeMatrix2Properties matrix2;
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  subgroup.pNext = &matrix2;
  VkPhysicalDeviceMaintenance3Properties maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  maintenance.pNext = &subgroup;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = &maintenance;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &driver;
  std::uint32_t extension_count = 0;
  CALL(vkEnumerateDeviceExtensionProperties)(device.physical, nullptr, &extension_count, nullptr);
  std::vector<VkExtensionProperties> extensions(extension_count);
  CALL(vkEnumerateDeviceExtensionProperties)(device.physical, nullptr, &extension_count, extensions.data());
  for (const VkExtensionProperties& extension : extensions) device.extensions.push_back(extension.extensionName);
  if (!device.has("VK_NV_cooperative_matrix2")) subgroup.pNext = nullptr;
  CALL(vkGetPhysicalDeviceProperties2)(device.physical, &properties);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  std::printf("GPU: %s\ndriver: %s %s, Vulkan %u.%u.%u\n", properties.properties.deviceName, driver.driverName,
              driver.driverInfo, VK_API_VERSION_MAJOR(properties.properties.apiVersion),
              VK_API_VERSION_MINOR(properties.properties.apiVersion),
              VK_API_VERSION_PATCH(properties.properties.apiVersion));
  std::array<char, 64> date{};
  const std::time_t now = std::time(nullptr);
  std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
  std::printf("date: %s\n", date.data());
  std::printf("limits: largest allocation %.2f GiB, storage range %u, shared memory %u, invocations %u, subgroup %u\n",
              static_cast<double>(maintenance.maxMemoryAllocationSize) / (1 << 30), limits.maxStorageBufferRange,
              limits.maxComputeSharedMemorySize, limits.maxComputeWorkGroupInvocations, subgroup.subgroupSize);
  CALL(vkGetPhysicalDeviceMemoryProperties)(device.physical, &device.memory);
  for (std::uint32_t i = 0; i < device.memory.memoryHeapCount; ++i) {
    std::printf("heap %u: %.2f GiB, flags %x\n", i, static_cast<double>(device.memory.memoryHeaps[i].size) / (1 << 30),
                device.memory.memoryHeaps[i].flags);
  }
  std::printf("extensions (%zu):", device.extensions.size());
  for (const std::string& name : device.extensions) std::printf(" %s", name.c_str());
  std::printf("\n");
  if (const auto get = function<GetMatrixProperties>("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
      get && device.has("VK_KHR_cooperative_matrix")) {
    get(device.physical, &count, nullptr);
    device.shapes.resize(count);
    get(device.physical, &count, device.shapes.data());
  }
  constexpr std::array<const char*, 6> scopes{"?", "device", "workgroup", "subgroup", "?", "queue family"};
  for (const CooperativeMatrixProperties& shape : device.shapes) {
    std::printf("subgroup property: %ux%ux%u, A %s, B %s, C %s, result %s, scope %s%s\n", shape.m, shape.n, shape.k,
                component_name(shape.a).c_str(), component_name(shape.b).c_str(), component_name(shape.c).c_str(),
                component_name(shape.result).c_str(), scopes[std::min<std::uint32_t>(shape.scope, 4)],
                shape.saturates ? ", saturating" : "");
  }
  if (const auto get =
          function<GetFlexibleDimensions>("vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV");
      get && device.has("VK_NV_cooperative_matrix2")) {
    std::printf("matrix2: largest work group %u, largest dimension %u, reserved shared memory %u\n",
                matrix2.largest_work_group, matrix2.largest_dimension, matrix2.reserved_shared_memory);
    device.largest_dimension = matrix2.largest_dimension;
    get(device.physical, &count, nullptr);
    device.flexible.resize(count);
    get(device.physical, &count, device.flexible.data());
  }
  for (const FlexibleDimensions& shape : device.flexible) {
    std::printf("flexible property: multiples of %ux%ux%u, A %s, B %s, C %s, result %s, scope %s, %u invocations%s\n",
                shape.m, shape.n, shape.k, component_name(shape.a).c_str(), component_name(shape.b).c_str(),
                component_name(shape.c).c_str(), component_name(shape.result).c_str(),
                scopes[std::min<std::uint32_t>(shape.scope, 4)], shape.invocations,
                shape.saturates ? ", saturating" : "");
  }
}

void open_device(Device& device) {
  std::uint32_t count = 0;
  CALL(vkGetPhysicalDeviceQueueFamilyProperties)(device.physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  CALL(vkGetPhysicalDeviceQueueFamilyProperties)(device.physical, &count, families.data());
  std::uint32_t family = 0;
  while (family < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
  if (family == count) fail("no compute queue");

  CooperativeMatrix2Features matrix2;
  CooperativeMatrixFeatures matrix;
  VkPhysicalDeviceVulkan13Features vulkan13{};
  vulkan13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features vulkan12{};
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  vulkan12.pNext = &vulkan13;
  VkPhysicalDeviceVulkan11Features vulkan11{};
  vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  vulkan11.pNext = &vulkan12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &vulkan11;
  std::vector<const char*> names;
  if (device.has("VK_KHR_cooperative_matrix")) {
    vulkan13.pNext = &matrix;
    names.push_back("VK_KHR_cooperative_matrix");
    if (device.has("VK_NV_cooperative_matrix2")) {
      matrix.next = &matrix2;
      names.push_back("VK_NV_cooperative_matrix2");
    }
  }
  CALL(vkGetPhysicalDeviceFeatures2)(device.physical, &features);  // then every feature that exists is turned on
  features.features.robustBufferAccess = VK_FALSE;
  matrix.robust_buffer_access = VK_FALSE;
  device.workgroup_matrices = matrix2.workgroup_scope && matrix2.flexible_dimensions && matrix2.tensor_addressing;
  std::printf(
      "features: cooperative matrix %u; matrix2: work group scope %u, flexible dimensions %u, tensor "
      "addressing %u, block loads %u\n",
      matrix.cooperative_matrix, matrix2.workgroup_scope, matrix2.flexible_dimensions, matrix2.tensor_addressing,
      matrix2.block_loads);
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
  info.ppEnabledExtensionNames = names.data();
  check(CALL(vkCreateDevice)(device.physical, &info, nullptr, &device.handle), "vkCreateDevice");
  CALL(vkGetDeviceQueue)(device.handle, family, 0, &device.queue);
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = family;
  check(CALL(vkCreateCommandPool)(device.handle, &pool, nullptr, &device.pool), "vkCreateCommandPool");
}

Buffer create_buffer(const Device& device, VkDeviceSize bytes, VkMemoryPropertyFlags wanted) {
  Buffer buffer;
  buffer.bytes = bytes;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  check(CALL(vkCreateBuffer)(device.handle, &info, nullptr, &buffer.handle), "vkCreateBuffer");
  VkMemoryRequirements needs{};
  CALL(vkGetBufferMemoryRequirements)(device.handle, buffer.handle, &needs);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = needs.size;
  while (allocate.memoryTypeIndex < device.memory.memoryTypeCount &&
         ((needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) == 0 ||
          (device.memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted)) {
    ++allocate.memoryTypeIndex;
  }
  check(CALL(vkAllocateMemory)(device.handle, &allocate, nullptr, &buffer.memory), "vkAllocateMemory");
  check(CALL(vkBindBufferMemory)(device.handle, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
  if ((wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
    check(CALL(vkMapMemory)(device.handle, buffer.memory, 0, bytes, 0, &buffer.mapped), "vkMapMemory");
  }
  return buffer;
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Records commands, runs them and returns the seconds until they end.
template <class Record>
double run(const Device& device, const Record& record) {
  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = device.pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(CALL(vkAllocateCommandBuffers)(device.handle, &allocate, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  CALL(vkBeginCommandBuffer)(commands, &begin);
  record(commands);
  CALL(vkEndCommandBuffer)(commands);
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  const auto start = std::chrono::steady_clock::now();
  check(CALL(vkQueueSubmit)(device.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check(CALL(vkQueueWaitIdle)(device.queue), "vkQueueWaitIdle");
  const double seconds = seconds_since(start);
  CALL(vkFreeCommandBuffers)(device.handle, device.pool, 1, &commands);
  return seconds;
}

void barrier(VkCommandBuffer commands) {
  VkMemoryBarrier all{};
  all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  CALL(vkCmdPipelineBarrier)
  (commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, nullptr, 0,
   nullptr);
}

enum class Number { half, single_precision };

VkDeviceSize bytes_of(Number type) { return type == Number::half ? 2 : 4; }

double load(const void* data, Number type, std::size_t index) {
  if (type == Number::half) return static_cast<double>(static_cast<const _Float16*>(data)[index]);
  return static_cast<const float*>(data)[index];
}

struct Kernel {
  std::string file;
  Number output;
  std::uint32_t m, n, k;  ///< cooperative matrix
  std::uint32_t rows_per_group, columns_per_group;
  std::uint32_t invocations;
};

/// Buffers and layouts that all products share.
class Products {
 public:
  Products(const Device& device, std::string directory) : device_(device), directory_(std::move(directory)) {
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (Buffer& buffer : buffers_) buffer = create_buffer(device, gibibyte, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    staging_ = create_buffer(device, inputs * sizeof(_Float16), host);
    result_ = create_buffer(device, VkDeviceSize{checked_rows} * 16384 * 4, host);
    std::array<VkDescriptorSetLayoutBinding, 3> bindings{};
    for (std::uint32_t i = 0; i < 3; ++i) {
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 3;
    set_info.pBindings = bindings.data();
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    CALL(vkCreateDescriptorSetLayout)(device.handle, &set_info, nullptr, &set_layout);
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 12};
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &range;
    check(CALL(vkCreatePipelineLayout)(device.handle, &layout_info, nullptr, &layout_), "vkCreatePipelineLayout");
    const VkDescriptorPoolSize pool_size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 3};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &pool_size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    CALL(vkCreateDescriptorPool)(device.handle, &pool_info, nullptr, &pool);
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout;
    check(CALL(vkAllocateDescriptorSets)(device.handle, &allocate, &set_), "vkAllocateDescriptorSets");
    for (std::uint32_t i = 0; i < 3; ++i) {
      const VkDescriptorBufferInfo buffer{buffers_[i].handle, 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{};
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstSet = set_;
      write.dstBinding = i;
      write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &buffer;
      CALL(vkUpdateDescriptorSets)(device.handle, 1, &write, 0, nullptr);
    }
    upload();
  }

  void measure_copy() const {
    const VkBufferCopy region{0, 0, gibibyte};
    const auto copy = [&](VkCommandBuffer commands) {
      for (int i = 0; i < 10; ++i) {
        CALL(vkCmdCopyBuffer)(commands, buffers_[0].handle, buffers_[1].handle, 1, &region);
        barrier(commands);
      }
    };
    double best = 1e9;
    const auto start = std::chrono::steady_clock::now();
    while (seconds_since(start) < 0.7) best = std::min(best, run(device_, copy));
    std::printf("vkCmdCopyBuffer of 1 GiB: %.3f TB/s read and written\n", 20.0 * gibibyte / best * 1e-12);
  }

  void measure(const Kernel& kernel, std::uint32_t m, std::uint32_t n, std::uint32_t k, bool subtract) {
    if (m % kernel.rows_per_group || n % kernel.columns_per_group || k % kernel.k) return;
    const auto start = std::chrono::steady_clock::now();
    const VkPipeline pipeline = create_pipeline(kernel, subtract);
    const double build_seconds = seconds_since(start);
    if (!pipeline) return;
    const auto dispatch = [&](VkCommandBuffer commands) {
      CALL(vkCmdBindPipeline)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      CALL(vkCmdBindDescriptorSets)
      (commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
      const std::array<std::uint32_t, 3> sizes{m, n, k};
      CALL(vkCmdPushConstants)(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, sizes.data());
      CALL(vkCmdDispatch)(commands, n / kernel.columns_per_group, m / kernel.rows_per_group, 1);
      barrier(commands);
    };
    // Rows spread over the matrix come back with the first product.
    run(device_, [&](VkCommandBuffer commands) {
      CALL(vkCmdFillBuffer)(commands, buffers_[2].handle, 0, VK_WHOLE_SIZE, 0);
      barrier(commands);
      dispatch(commands);
      for (std::uint32_t r = 0; r < checked_rows; ++r) {
        const VkDeviceSize row_bytes = n * bytes_of(kernel.output);
        const VkBufferCopy region{checked_row(r, m) * row_bytes, r * row_bytes, row_bytes};
        CALL(vkCmdCopyBuffer)(commands, buffers_[2].handle, result_.handle, 1, &region);
      }
      barrier(commands);
    });
    const double error = largest_error(kernel, m, n, k, subtract);
    // An idle GPU needs a part of a second to reach its clock rate.
    constexpr int in_a_row = 5;
    const auto timed = [&] {
      return run(device_,
                 [&](VkCommandBuffer commands) {
                   for (int j = 0; j < in_a_row; ++j) dispatch(commands);
                 }) /
             in_a_row;
    };
    const auto warm = std::chrono::steady_clock::now();
    while (seconds_since(warm) < 0.5) timed();
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(timed());
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[2];
    std::printf(
        "product %s, matrix %ux%ux%u, group %ux%u, %u invocations, %s %ux%ux%u: %.1f TFLOPS (%.3f ms), largest error "
        "%.1e, built in %.1f s\n",
        kernel.file.c_str(), kernel.m, kernel.n, kernel.k, kernel.rows_per_group, kernel.columns_per_group,
        kernel.invocations, subtract ? "C -= A B," : "C = A B,", m, n, k, 2.0 * m * n * k / median * 1e-12,
        median * 1e3, error, build_seconds);
    CALL(vkDestroyPipeline)(device_.handle, pipeline, nullptr);
  }

 private:
  static constexpr VkDeviceSize gibibyte = VkDeviceSize{1} << 30;
  static constexpr std::size_t inputs = std::size_t{8192} * 8192 / 4;  ///< numbers, used over and over
  static constexpr std::uint32_t checked_rows = 8;

  static std::uint32_t checked_row(std::uint32_t r, std::uint32_t m) { return r * (m / checked_rows) + r * 7 + 1; }

  /// Random numbers in A and B. B starts at another number, so that it is not A.
  void upload() {
    std::mt19937_64 generator(3);
    auto* values = static_cast<_Float16*>(staging_.mapped);
    for (std::size_t i = 0; i < inputs; ++i) {
      values[i] = static_cast<_Float16>(static_cast<float>(generator() >> 44) / (1 << 20) - 0.5F);
    }
    constexpr VkDeviceSize part = inputs * sizeof(_Float16);
    run(device_, [&](VkCommandBuffer commands) {
      for (const std::size_t which : {0, 1}) {
        for (VkDeviceSize at = 0; at + part <= gibibyte; at += part) {
          const VkDeviceSize shift = which * b_shift * sizeof(_Float16);
          const std::array<VkBufferCopy, 2> regions{VkBufferCopy{shift, at, part - shift},
                                                    VkBufferCopy{0, at + part - shift, shift}};
          CALL(vkCmdCopyBuffer)(commands, staging_.handle, buffers_[which].handle, which ? 2 : 1, regions.data());
        }
      }
      barrier(commands);
    });
  }

  double a(std::size_t i) const { return load(staging_.mapped, Number::half, i % inputs); }
  double b(std::size_t i) const { return load(staging_.mapped, Number::half, (i % inputs + b_shift) % inputs); }

  double largest_error(const Kernel& kernel, std::uint32_t m, std::uint32_t n, std::uint32_t k, bool subtract) const {
    double largest = 0;
    for (std::uint32_t r = 0; r < checked_rows; ++r) {
      for (std::uint32_t c = 0; c < 8; ++c) {
        const std::uint32_t row = checked_row(r, m), column = c * (n / 8) + 5 * c + 2;
        double sum = 0, size = 0;
        for (std::uint32_t l = 0; l < k; ++l) {
          const double product = a(std::size_t{row} * k + l) * b(std::size_t{l} * n + column);
          sum += product;
          size += std::fabs(product);
        }
        const double found = load(result_.mapped, kernel.output, std::size_t{r} * n + column);
        largest = std::max(largest, std::fabs(found - (subtract ? -sum : sum)) / size);
      }
    }
    return largest;
  }

  VkPipeline create_pipeline(const Kernel& kernel, bool subtract) const {
    std::ifstream file(directory_ + "/" + kernel.file, std::ios::binary);
    const std::vector<char> code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (code.empty()) {
      std::printf("product %s: no such file\n", kernel.file.c_str());
      return VK_NULL_HANDLE;
    }
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = code.size();
    module_info.pCode = reinterpret_cast<const std::uint32_t*>(code.data());
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = CALL(vkCreateShaderModule)(device_.handle, &module_info, nullptr, &module);
    if (result != VK_SUCCESS) {
      std::printf("product %s: vkCreateShaderModule %d\n", kernel.file.c_str(), result);
      return VK_NULL_HANDLE;
    }
    const std::array<std::uint32_t, 5> constants{kernel.m, kernel.n, kernel.k, subtract ? 1U : 0U, kernel.invocations};
    std::array<VkSpecializationMapEntry, 5> entries{};
    for (std::uint32_t i = 0; i < 5; ++i) entries[i] = {i, i * 4, 4};
    const VkSpecializationInfo specialization{5, entries.data(), 20, constants.data()};
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = layout_;
    VkPipeline pipeline = VK_NULL_HANDLE;
    result = CALL(vkCreateComputePipelines)(device_.handle, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    if (result != VK_SUCCESS) {
      std::printf("product %s, matrix %ux%ux%u: vkCreateComputePipelines %d\n", kernel.file.c_str(), kernel.m, kernel.n,
                  kernel.k, result);
      pipeline = VK_NULL_HANDLE;
    }
    CALL(vkDestroyShaderModule)(device_.handle, module, nullptr);
    return pipeline;
  }

  static constexpr std::size_t b_shift = 4096 + 64;

  const Device& device_;
  std::string directory_;
  std::array<Buffer, 3> buffers_;
  Buffer staging_, result_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
};

constexpr std::uint32_t half_type = 0, single_type = 1, workgroup_scope = 2, subgroup_scope = 3;

bool offers(const Device& device, std::uint32_t m, std::uint32_t n, std::uint32_t k, std::uint32_t output) {
  return std::any_of(device.shapes.begin(), device.shapes.end(), [&](const CooperativeMatrixProperties& shape) {
    return shape.scope == subgroup_scope && shape.m == m && shape.n == n && shape.k == k && shape.a == half_type &&
           shape.b == half_type && shape.c == output && shape.result == output;
  });
}

void measure_both_sizes(Products& products, const Kernel& kernel) {
  products.measure(kernel, 8192, 8192, 8192, false);
  if (kernel.output == Number::single_precision) products.measure(kernel, 16384, 16384, 512, true);
}

void measure_subgroup_matrices(const Device& device, Products& products) {
  struct Module {
    const char* file;
    Number output;
    std::uint32_t tiles_m, tiles_n;
  };
  for (const Module& module :
       {Module{"subgroup.spv", Number::single_precision, 4, 4}, Module{"subgroup_half_sums.spv", Number::half, 4, 4},
        Module{"subgroup_packed.spv", Number::single_precision, 4, 4},
        Module{"subgroup_packed_small.spv", Number::single_precision, 2, 4}}) {
    for (const std::uint32_t n : {16U, 8U}) {
      if (!offers(device, 16, n, 16, module.output == Number::half ? half_type : single_type)) continue;
      measure_both_sizes(products,
                         {module.file, module.output, 16, n, 16, 32 * module.tiles_m, 2 * n * module.tiles_n, 128});
    }
  }
  struct SharedModule {
    const char* file;
    std::uint32_t rows, columns, subgroups;
  };
  if (!offers(device, 16, 16, 16, single_type)) return;
  for (const SharedModule& module :
       {SharedModule{"shared_128x128x32_8.spv", 128, 128, 8}, SharedModule{"shared_128x128x32_4.spv", 128, 128, 4},
        SharedModule{"shared_128x256x16_8.spv", 128, 256, 8}, SharedModule{"shared_256x128x16_8.spv", 256, 128, 8}}) {
    measure_both_sizes(products, {module.file, Number::single_precision, 16, 16, 16, module.rows, module.columns,
                                  32 * module.subgroups});
  }
}

void measure_workgroup_matrices(const Device& device, Products& products) {
  if (!device.workgroup_matrices) return;
  struct Tile {
    std::uint32_t m, n, k;
  };
  for (const FlexibleDimensions& shape : device.flexible) {
    if (shape.scope != workgroup_scope || shape.saturates || shape.a != half_type || shape.b != half_type ||
        shape.c != single_type || shape.result != single_type || shape.invocations < 128) {
      continue;
    }
    for (const Tile& tile : {Tile{128, 128, 16}, Tile{128, 128, 32}, Tile{128, 128, 64}, Tile{128, 256, 16},
                             Tile{128, 256, 32}, Tile{256, 128, 32}}) {
      if (tile.m % shape.m || tile.n % shape.n || tile.k % shape.k) continue;
      if (std::max(tile.m, tile.n) > device.largest_dimension) continue;
      // 256 sums an invocation spill: 5 TFLOPS.
      if (tile.m * tile.n / shape.invocations > 128) continue;
      measure_both_sizes(products, {"workgroup.spv", Number::single_precision, tile.m, tile.n, tile.k, tile.m, tile.n,
                                    shape.invocations});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string directory = argc > 1 ? argv[1] : ".";
  open_instance();
  Device device;
  describe(device);
  open_device(device);
  Products products(device, directory);
  products.measure_copy();
  measure_subgroup_matrices(device, products);
  measure_workgroup_matrices(device, products);
  std::printf("done\n");
  return 0;
}
