// Vulkan's functions, which are loaded at run time: the program runs without libvulkan, too.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

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
                                          f(GetQueryPoolResults) f(GetCalibratedTimestampsEXT)

#define GLINPACK_DECLARE_FUNCTION(name) PFN_vk##name name = nullptr;

/// An instance, kept until the process ends: with the last one, NVIDIA's driver 580 ends OpenGL in the whole process as
/// well.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  GLINPACK_INSTANCE_FUNCTIONS(GLINPACK_DECLARE_FUNCTION)
};

/// `debug`: with Khronos' validation layer, if it is installed. Throws std::runtime_error with cause and remedy.
const Instance& instance_of_process(bool debug);

/// The first message of the validation layer since the last call; empty if there was none.
std::string take_validation_message();

struct Functions {
  GLINPACK_DEVICE_FUNCTIONS(GLINPACK_DECLARE_FUNCTION)
  PFN_vkGetMemoryFdKHR GetMemoryFdKHR = nullptr;  // null if the device exports no memory
};

/// Throws std::runtime_error if the driver lacks one.
Functions functions_of(const Instance& instance, VkDevice device);

/// Throws std::runtime_error that names the function, unless it succeeded.
void require(VkResult result, const char* function);

}  // namespace glinpack::vulkan
