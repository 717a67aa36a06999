// For all tests of a program that use Vulkan, as gl_hooks.cpp for OpenGL: fresh buffers are full of NaNs and have a
// canary before and one behind their data, which are compared when they are destroyed. All offsets are moved. The
// canary before is as long as the strictest alignment of a binding. Above 64 MiB, only the canaries are filled. Buffers
// in memory that the host cannot map have none: those of GPUs.
#include "tests/local/vulkan_hooks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "vulkan/functions.hpp"

namespace glinpack::vulkan {
namespace {

constexpr std::uint32_t canary_word = 0x7FF7FFF7;  // NaN as float; twice, as double
constexpr VkDeviceSize canary_size = 256, largest_filled_size = VkDeviceSize{64} << 20;

struct GuardedBuffer {
  VkDeviceSize bytes = 0;          // between the canaries
  std::uint32_t* words = nullptr;  // of the first canary; null if there are none
};

std::mutex guard_mutex;
std::map<VkDevice, VkPhysicalDevice> physical_of;
std::map<VkDeviceMemory, bool> is_mappable;
std::map<VkDeviceMemory, std::uint32_t*> mapped;
std::map<VkBuffer, GuardedBuffer> guarded;

GuardedBuffer guarded_buffer(VkBuffer buffer) {
  const std::lock_guard lock(guard_mutex);
  const auto found = guarded.find(buffer);
  return found == guarded.end() ? GuardedBuffer{} : found->second;
}
VkDeviceSize begin_of(VkBuffer buffer) { return guarded_buffer(buffer).words == nullptr ? 0 : canary_size; }

void compare(const GuardedBuffer& buffer, VkDeviceSize begin, const char* where) {
  const std::uint32_t* const words = buffer.words + begin / 4;
  const auto* const changed =
      std::find_if(words, words + canary_size / 4, [](std::uint32_t word) { return word != canary_word; });
  EXPECT_TRUE(changed == words + canary_size / 4) << "a buffer of " << buffer.bytes << " bytes was written " << where
                                                  << ", byte " << 4 * (changed - words) << " of the canary";
}

// The functions of an instance's devices that are replaced; the validation layer sees the calls that these make.
template <bool debug>
struct Hooks {
  static inline Instance* instance = nullptr;
  static inline PFN_vkGetDeviceProcAddr get = nullptr;
  static inline PFN_vkCreateDevice create_device = nullptr;
  static inline PFN_vkGetPhysicalDeviceFeatures2 get_features = nullptr;
  static inline Functions original;

  static VkResult VKAPI_PTR create_and_note_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks, VkDevice* device) {
    const VkResult result = create_device(physical, info, callbacks, device);
    const std::lock_guard lock(guard_mutex);
    if (result == VK_SUCCESS) physical_of[*device] = physical;
    return result;
  }

  static void VKAPI_PTR get_some_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
    get_features(physical, features);
    if (test::vulkan_has_no_doubles) features->features.shaderFloat64 = VK_FALSE;
  }

  static VkResult VKAPI_PTR allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
    const VkResult result = original.AllocateMemory(device, info, callbacks, memory);
    if (result != VK_SUCCESS) return result;
    const std::lock_guard lock(guard_mutex);
    VkPhysicalDeviceMemoryProperties types{};
    instance->GetPhysicalDeviceMemoryProperties(physical_of.at(device), &types);
    constexpr VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    is_mappable[*memory] = (types.memoryTypes[info->memoryTypeIndex].propertyFlags & needed) == needed;
    mapped.erase(*memory);
    return result;
  }

  static VkResult VKAPI_PTR create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                          const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
    VkBufferCreateInfo larger = *info;
    larger.size = (info->size + 3) / 4 * 4 + 2 * canary_size;
    const VkResult result = original.CreateBuffer(device, &larger, callbacks, buffer);
    const std::lock_guard lock(guard_mutex);
    if (result == VK_SUCCESS) guarded[*buffer] = {larger.size - 2 * canary_size, nullptr};
    return result;
  }

  static VkResult VKAPI_PTR bind_memory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
    const VkResult result = original.BindBufferMemory(device, buffer, memory, offset);
    const std::lock_guard lock(guard_mutex);
    if (result != VK_SUCCESS || !is_mappable.at(memory)) return result;
    void* data = nullptr;
    if (original.MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &data) != VK_SUCCESS) return result;
    GuardedBuffer& fresh = guarded.at(buffer);
    fresh.words = static_cast<std::uint32_t*>(data);
    mapped[memory] = fresh.words;
    const VkDeviceSize filled = fresh.bytes <= largest_filled_size ? fresh.bytes + canary_size : canary_size;
    std::fill_n(fresh.words, filled / 4, canary_word);
    std::fill_n(fresh.words + (canary_size + fresh.bytes) / 4, canary_size / 4, canary_word);
    return result;
  }

  static VkResult VKAPI_PTR map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                                       VkMemoryMapFlags flags, void** data) {
    const std::lock_guard lock(guard_mutex);
    const auto found = mapped.find(memory);
    if (found == mapped.end()) return original.MapMemory(device, memory, offset, size, flags, data);
    *data = found->second + (canary_size + offset) / 4;
    return VK_SUCCESS;
  }

  static void VKAPI_PTR destroy_buffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks* callbacks) {
    if (const GuardedBuffer old = guarded_buffer(buffer); old.words != nullptr) {
      compare(old, 0, "before its beginning");
      compare(old, canary_size + old.bytes, "behind its end");
    }
    {
      const std::lock_guard lock(guard_mutex);
      guarded.erase(buffer);
    }
    original.DestroyBuffer(device, buffer, callbacks);
  }

  // A binding of the whole buffer includes the canary behind: lavapipe drops what shaders write behind a binding.
  static void VKAPI_PTR push_moved(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                                   std::uint32_t set, std::uint32_t count, const VkWriteDescriptorSet* given) {
    std::vector<VkWriteDescriptorSet> writes(given, given + count);
    std::vector<VkDescriptorBufferInfo> buffers(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const GuardedBuffer bound = guarded_buffer(given[i].pBufferInfo->buffer);
      buffers[i] = *given[i].pBufferInfo;
      writes[i].pBufferInfo = &buffers[i];
      if (bound.words == nullptr) continue;
      if (buffers[i].range == VK_WHOLE_SIZE) buffers[i].range = bound.bytes - buffers[i].offset + canary_size;
      buffers[i].offset += canary_size;
    }
    original.CmdPushDescriptorSetKHR(commands, point, layout, set, count, writes.data());
  }

  static void VKAPI_PTR copy_moved(VkCommandBuffer commands, VkBuffer from, VkBuffer to, std::uint32_t count,
                                   const VkBufferCopy* given) {
    std::vector<VkBufferCopy> regions(given, given + count);
    for (VkBufferCopy& region : regions) {
      region.srcOffset += begin_of(from);
      region.dstOffset += begin_of(to);
    }
    original.CmdCopyBuffer(commands, from, to, count, regions.data());
  }

  static void VKAPI_PTR fill_moved(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                   std::uint32_t word) {
    original.CmdFillBuffer(commands, buffer, offset + begin_of(buffer), size, word);
  }

  static VkResult VKAPI_PTR submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
    return test::vulkan_device_is_lost ? VK_ERROR_DEVICE_LOST : original.QueueSubmit(queue, count, infos, fence);
  }
  static VkResult VKAPI_PTR wait(VkDevice device, const VkSemaphoreWaitInfo* info, std::uint64_t nanoseconds) {
    return test::vulkan_device_is_lost ? VK_ERROR_DEVICE_LOST : original.WaitSemaphores(device, info, nanoseconds);
  }
  static VkResult VKAPI_PTR counter(VkDevice device, VkSemaphore semaphore, std::uint64_t* value) {
    return test::vulkan_device_is_lost ? VK_ERROR_DEVICE_LOST
                                       : original.GetSemaphoreCounterValue(device, semaphore, value);
  }

  template <class Function>
  static bool replace(std::string_view name, std::string_view wanted, PFN_vkVoidFunction& found, Function& kept,
                      Function hook) {
    if (name != wanted) return false;
    kept = reinterpret_cast<Function>(found);
    found = reinterpret_cast<PFN_vkVoidFunction>(hook);
    return true;
  }
  static PFN_vkVoidFunction VKAPI_PTR get_hooked(VkDevice device, const char* name) {
    PFN_vkVoidFunction found = get(device, name);
    replace(name, "vkAllocateMemory", found, original.AllocateMemory, &allocate_memory) ||
        replace(name, "vkCreateBuffer", found, original.CreateBuffer, &create_buffer) ||
        replace(name, "vkBindBufferMemory", found, original.BindBufferMemory, &bind_memory) ||
        replace(name, "vkMapMemory", found, original.MapMemory, &map_memory) ||
        replace(name, "vkDestroyBuffer", found, original.DestroyBuffer, &destroy_buffer) ||
        replace(name, "vkCmdPushDescriptorSetKHR", found, original.CmdPushDescriptorSetKHR, &push_moved) ||
        replace(name, "vkCmdCopyBuffer", found, original.CmdCopyBuffer, &copy_moved) ||
        replace(name, "vkCmdFillBuffer", found, original.CmdFillBuffer, &fill_moved) ||
        replace(name, "vkQueueSubmit", found, original.QueueSubmit, &submit) ||
        replace(name, "vkWaitSemaphores", found, original.WaitSemaphores, &wait) ||
        replace(name, "vkGetSemaphoreCounterValue", found, original.GetSemaphoreCounterValue, &counter);
    return found;
  }

  static void install() {
    instance = const_cast<Instance*>(&instance_of_process(debug));
    get = instance->GetDeviceProcAddr;
    create_device = instance->CreateDevice;
    instance->GetDeviceProcAddr = &get_hooked;
    instance->CreateDevice = &create_and_note_device;
    get_features = instance->GetPhysicalDeviceFeatures2;
    instance->GetPhysicalDeviceFeatures2 = &get_some_features;
  }
};

class VulkanHooks final : public testing::Environment {
 public:
  void SetUp() override {
    try {
      Hooks<false>::install();
      Hooks<true>::install();
    } catch (const std::runtime_error&) {
      // there is no Vulkan
    }
  }
};

[[maybe_unused]] testing::Environment* const hooks = testing::AddGlobalTestEnvironment(new VulkanHooks);

}  // namespace
}  // namespace glinpack::vulkan
