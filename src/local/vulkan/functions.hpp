// Vulkan's functions, which are loaded at run time: the program runs without libvulkan, too.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>
#include <vector>

namespace glinpack::vulkan {

#define GLINPACK_INSTANCE_FUNCTIONS(f)                                                                           \
  f(EnumeratePhysicalDevices) f(EnumerateDeviceExtensionProperties) f(GetPhysicalDeviceFeatures2)                \
      f(GetPhysicalDeviceProperties2) f(GetPhysicalDeviceMemoryProperties) f(GetPhysicalDeviceMemoryProperties2) \
          f(GetPhysicalDeviceQueueFamilyProperties) f(CreateDevice) f(GetDeviceProcAddr)

#define GLINPACK_DEVICE_FUNCTIONS(f)                                                                                   \
  f(DestroyDevice) f(GetDeviceQueue) f(QueueSubmit) f(CreateBuffer) f(DestroyBuffer) f(GetBufferMemoryRequirements)    \
      f(AllocateMemory) f(FreeMemory) f(BindBufferMemory) f(MapMemory) f(CreateDescriptorSetLayout)                    \
          f(DestroyDescriptorSetLayout) f(CreatePipelineLayout) f(DestroyPipelineLayout) f(CreateShaderModule)         \
              f(DestroyShaderModule) f(CreatePipelineCache) f(DestroyPipelineCache) f(GetPipelineCacheData)            \
                  f(CreateComputePipelines) f(DestroyPipeline) f(CreateCommandPool) f(DestroyCommandPool)              \
                      f(AllocateCommandBuffers) f(BeginCommandBuffer) f(EndCommandBuffer) f(ResetCommandBuffer)        \
                          f(CmdBindPipeline) f(CmdPushConstants) f(CmdPushDescriptorSetKHR) f(CmdDispatch)             \
                              f(CmdPipelineBarrier) f(CmdCopyBuffer) f(CmdFillBuffer) f(CreateSemaphore)               \
                                  f(DestroySemaphore) f(GetSemaphoreCounterValue) f(WaitSemaphores) f(CreateQueryPool) \
                                      f(DestroyQueryPool) f(CmdResetQueryPool) f(ResetQueryPool) f(CmdWriteTimestamp)  \
                                          f(GetQueryPoolResults) f(GetCalibratedTimestampsEXT)                         \
                                              f(GetBufferDeviceAddress)

#define GLINPACK_DECLARE_FUNCTION(name) PFN_vk##name name = nullptr;

// VK_KHR_cooperative_matrix, which headers before 1.3.255 do not have.
inline constexpr const char* cooperative_matrix_extension = "VK_KHR_cooperative_matrix";
struct CooperativeMatrixFeatures {
  VkStructureType type = static_cast<VkStructureType>(1000506000);
  void* next = nullptr;
  VkBool32 cooperative_matrix = VK_FALSE;
  VkBool32 robust_buffer_access = VK_FALSE;
};
struct CooperativeMatrixProperties {
  static constexpr std::uint32_t float16 = 0, float32 = 1, int8 = 3, int32 = 5;  // VkComponentTypeKHR
  static constexpr std::uint32_t subgroup = 3;                                   // VkScopeKHR
  VkStructureType type = static_cast<VkStructureType>(1000506001);
  void* next = nullptr;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t a = 0, b = 0, c = 0, result = 0;
  VkBool32 saturates = VK_FALSE;
  std::uint32_t scope = 0;
};
using GetCooperativeMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*,
                                                            CooperativeMatrixProperties*);

/// An instance, kept until the process ends: with the last one, NVIDIA's driver 580 ends OpenGL in the whole process as
/// well.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  GetCooperativeMatrixProperties cooperative_matrix_properties = nullptr;  // null without the extension
  GLINPACK_INSTANCE_FUNCTIONS(GLINPACK_DECLARE_FUNCTION)
};

/// `debug`: with Khronos' validation layer, if it is installed. Throws std::runtime_error with cause and remedy.
const Instance& instance_of_process(bool debug);

/// The first message of the validation layer since the last call; empty if there was none.
std::string take_validation_message();

struct Functions {
  GLINPACK_DEVICE_FUNCTIONS(GLINPACK_DECLARE_FUNCTION)
  PFN_vkGetMemoryFdKHR GetMemoryFdKHR = nullptr;  // null if the device exports and imports none
};

/// Throws std::runtime_error if the driver lacks one.
Functions functions_of(const Instance& instance, VkDevice device);

/// What list(count, items) lists, one of Vulkan's functions that are called twice.
template <class Item, class List>
std::vector<Item> listed(List list) {
  std::uint32_t count = 0;
  list(&count, nullptr);
  std::vector<Item> items(count);
  list(&count, items.data());
  return items;
}

/// Throws std::runtime_error that names the function, unless it succeeded.
void require(VkResult result, const char* function);

}  // namespace glinpack::vulkan
