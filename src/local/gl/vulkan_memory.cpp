#include "gl/vulkan_memory.hpp"

#include <dlfcn.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace glinpack::gl {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits handle_type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

void require(bool condition, const std::string& cause) {
  if (!condition) throw std::runtime_error("no device memory from Vulkan: " + cause);
}

void require(VkResult result, const char* function) {
  require(result == VK_SUCCESS, std::string(function) + " fails with VkResult " + std::to_string(result));
}

// Takes the file descriptor, which may be -1. `size`: of the exported memory.
MemoryObjectHandle import(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes,
                          int file_descriptor, VkDeviceSize size) {
  if (file_descriptor < 0) return {};
  MemoryObjectHandle memory(context);
  const GLint yes = GL_TRUE;
  glMemoryObjectParameterivEXT(memory.id(), GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
  glImportMemoryFdEXT(memory.id(), size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, file_descriptor);
  if (glGetError() != GL_NO_ERROR) {
    close(file_descriptor);  // OpenGL takes it only on success
    return {};
  }
  glNamedBufferStorageMemEXT(buffer, static_cast<GLsizeiptr>(bytes), memory.id(), 0);
  return glGetError() == GL_NO_ERROR ? std::move(memory) : MemoryObjectHandle{};
}

}  // namespace

struct VulkanMemory::Functions {
  // dlclose() would end threads of some drivers while they run: the library stays loaded
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NODELETE);
  VkInstance instance = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkPhysicalDeviceMemoryProperties types{};  // of memory

  template <class Function>
  Function function(const char* name) const {
    const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    const auto found = get ? reinterpret_cast<Function>(get(instance, name)) : nullptr;
    require(found != nullptr, std::string("libvulkan.so.1 has no ") + name);
    return found;
  }

  void create_instance();
  VkPhysicalDevice find_device(const std::array<GLubyte, VK_UUID_SIZE>& uuid) const;
  void create_device(VkPhysicalDevice physical);

  // These return null, or -1, on failure.
  VkBuffer create_buffer(std::int64_t bytes) const;
  VkDeviceMemory allocate(VkBuffer buffer, const VkMemoryRequirements& needed) const;
  int file_descriptor_of(VkDeviceMemory memory) const;
};

void VulkanMemory::Functions::create_instance() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_1;  // the first with external memory in its core
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  // Kept: with the last instance, NVIDIA's driver 580 ends OpenGL in the whole process as well.
  static const VkInstance of_process = [&] {
    VkInstance made = VK_NULL_HANDLE;
    require(function<PFN_vkCreateInstance>("vkCreateInstance")(&info, nullptr, &made), "vkCreateInstance");
    return made;
  }();
  instance = of_process;
}

VkPhysicalDevice VulkanMemory::Functions::find_device(const std::array<GLubyte, VK_UUID_SIZE>& uuid) const {
  const auto enumerate = function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
  std::uint32_t count = 0;
  require(enumerate(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  require(enumerate(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
  const auto properties_of = function<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2");
  for (VkPhysicalDevice candidate : devices) {
    VkPhysicalDeviceIDProperties id{};
    id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &id;
    properties_of(candidate, &properties);
    if (std::memcmp(id.deviceUUID, uuid.data(), uuid.size()) == 0) return candidate;
  }
  require(false, "none of its " + std::to_string(count) + " devices is OpenGL's");
  return VK_NULL_HANDLE;
}

void VulkanMemory::Functions::create_device(VkPhysicalDevice physical) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};  // a device needs one
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const std::array<const char*, 1> extensions{VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = extensions.size();
  info.ppEnabledExtensionNames = extensions.data();
  require(function<PFN_vkCreateDevice>("vkCreateDevice")(physical, &info, nullptr, &device), "vkCreateDevice");
  function<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(physical, &types);
}

VkBuffer VulkanMemory::Functions::create_buffer(std::int64_t bytes) const {
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = handle_type;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = &external;
  info.size = static_cast<VkDeviceSize>(bytes) + 1024;  // llvmpipe needs room after the end, and canaries of tests
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  const VkResult result = function<PFN_vkCreateBuffer>("vkCreateBuffer")(device, &info, nullptr, &buffer);
  return result == VK_SUCCESS ? buffer : VK_NULL_HANDLE;
}

// Dedicated to the buffer: on an H200, other memory is slower, and large parts of it stall.
VkDeviceMemory VulkanMemory::Functions::allocate(VkBuffer buffer, const VkMemoryRequirements& needed) const {
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.buffer = buffer;
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.pNext = &dedicated;
  exported.handleTypes = handle_type;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &exported;
  info.allocationSize = needed.size;
  while (info.memoryTypeIndex < types.memoryTypeCount &&
         ((needed.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
          (types.memoryTypes[info.memoryTypeIndex].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0)) {
    ++info.memoryTypeIndex;
  }
  VkDeviceMemory memory = VK_NULL_HANDLE;
  if (info.memoryTypeIndex == types.memoryTypeCount ||
      function<PFN_vkAllocateMemory>("vkAllocateMemory")(device, &info, nullptr, &memory) != VK_SUCCESS) {
    return VK_NULL_HANDLE;
  }
  function<PFN_vkBindBufferMemory>("vkBindBufferMemory")(device, buffer, memory, 0);
  return memory;
}

int VulkanMemory::Functions::file_descriptor_of(VkDeviceMemory memory) const {
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = memory;
  info.handleType = handle_type;
  int file_descriptor = -1;
  const VkResult result = function<PFN_vkGetMemoryFdKHR>("vkGetMemoryFdKHR")(device, &info, &file_descriptor);
  return result == VK_SUCCESS ? file_descriptor : -1;
}

VulkanMemory::VulkanMemory(Context& context) : context_(context), vulkan_(std::make_unique<Functions>()) {}

VulkanMemory::~VulkanMemory() {
  if (vulkan_->device) {
    vulkan_->function<PFN_vkDestroyDevice>("vkDestroyDevice")(vulkan_->device, nullptr);
  }
}

std::unique_ptr<VulkanMemory> VulkanMemory::open(const std::shared_ptr<Context>& context) {
  context->make_current();
  require(context->has_extension("GL_EXT_memory_object_fd"), "the OpenGL driver imports none");
  std::array<GLubyte, VK_UUID_SIZE> uuid{};
  glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid.data());
  std::unique_ptr<VulkanMemory> opened(new VulkanMemory(*context));
  require(opened->vulkan_->library != nullptr, "there is no libvulkan.so.1: install libvulkan1");
  opened->vulkan_->create_instance();
  opened->vulkan_->create_device(opened->vulkan_->find_device(uuid));
  return opened;
}

MemoryObjectHandle VulkanMemory::allocate(GLuint buffer, std::int64_t bytes) const {
  const VkBuffer exported = vulkan_->create_buffer(bytes);
  if (exported == VK_NULL_HANDLE) return {};
  VkMemoryRequirements needed{};
  vulkan_->function<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(vulkan_->device, exported,
                                                                                        &needed);
  const VkDeviceMemory memory = vulkan_->allocate(exported, needed);
  MemoryObjectHandle imported;
  if (memory != VK_NULL_HANDLE) {
    imported = import(context_.shared_from_this(), buffer, bytes, vulkan_->file_descriptor_of(memory), needed.size);
  }
  // what is imported is a reference of its own to the memory
  vulkan_->function<PFN_vkDestroyBuffer>("vkDestroyBuffer")(vulkan_->device, exported, nullptr);
  vulkan_->function<PFN_vkFreeMemory>("vkFreeMemory")(vulkan_->device, memory, nullptr);
  if (imported.id() == 0) context_.discard_debug_error();
  return imported;
}

}  // namespace glinpack::gl
