#include "vulkan/logical_device.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "vulkan/devices.hpp"

namespace glinpack::vulkan {
namespace {

constexpr std::uint32_t queries_of_pool = 1024;
constexpr auto shared_type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

}  // namespace

LogicalDevice::LogicalDevice(const BackendOptions& options) : instance(instance_of_process(options.debug)) {
  const std::vector<VkPhysicalDevice> all = physical_devices(instance);
  for (int index = 0; index < std::ssize(all) && physical == VK_NULL_HANDLE; ++index) {
    description = describe(instance, all[static_cast<std::size_t>(index)], options.device);
    const bool is_wanted = options.uuid.empty() ? index == options.device : description.uuid == options.uuid;
    if (is_wanted) physical = all[static_cast<std::size_t>(index)];
  }
  if (physical == VK_NULL_HANDLE) {
    throw std::runtime_error(fmt::format("no Vulkan device {}: there are {}; `glinpack devices` lists them",
                                         options.uuid.empty() ? std::to_string(options.device) : options.uuid,
                                         all.size()));
  }
  may_have_peers = options.value("peer") != "none";
  if (!description.usable) throw std::runtime_error(description.renderer + ": " + description.why_unusable);
  instance.GetPhysicalDeviceMemoryProperties(physical, &memory_types_);
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  instance.GetPhysicalDeviceProperties2(physical, &properties);
  nanoseconds_per_tick = static_cast<double>(properties.properties.limits.timestampPeriod);
  choose_queues();

  const float priority = 1;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const std::uint32_t family : families_) {
    queues.push_back({VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, family, 1, &priority});
  }
  std::vector<const char*> extensions = required_extensions();
  if (has_extension(instance, physical, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  }
  const VkBool32 multiplies = description.has_matrices() ? VK_TRUE : VK_FALSE;
  CooperativeMatrixFeatures matrices{.cooperative_matrix = multiplies};
  if (description.has_matrices()) extensions.push_back(cooperative_matrix_extension);
  VkPhysicalDeviceVulkan12Features core{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                        .pNext = description.has_matrices() ? &matrices : nullptr,
                                        .shaderFloat16 = description.half_matrices.exists() ? VK_TRUE : VK_FALSE,
                                        .shaderInt8 = multiplies,
                                        .hostQueryReset = VK_TRUE,
                                        .timelineSemaphore = VK_TRUE,
                                        .bufferDeviceAddress = multiplies,
                                        .vulkanMemoryModel = multiplies};
  VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &core};
  features.features.shaderFloat64 = description.doubles ? VK_TRUE : VK_FALSE;
  features.features.shaderInt64 = multiplies;
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &features,
                                .queueCreateInfoCount = static_cast<std::uint32_t>(queues.size()),
                                .pQueueCreateInfos = queues.data(),
                                .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data()};
  require(instance.CreateDevice(physical, &info, nullptr, &handle), "vkCreateDevice");
  vk = functions_of(instance, handle);
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo timeline{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
  for (Queue* queue : queues_) {
    vk.GetDeviceQueue(handle, queue->family, 0, &queue->handle);
    require(vk.CreateSemaphore(handle, &timeline, nullptr, &queue->timeline), "vkCreateSemaphore");
  }
  create_layouts();
}

LogicalDevice::~LogicalDevice() {
  for (const Retired& retired : retired_) retired.destroy();
  for (VkQueryPool pool : query_pools_) vk.DestroyQueryPool(handle, pool, nullptr);
  vk.DestroyPipelineLayout(handle, pipeline_layout, nullptr);
  vk.DestroyDescriptorSetLayout(handle, set_layout_, nullptr);
  for (const Queue* queue : queues_) vk.DestroySemaphore(handle, queue->timeline, nullptr);
  vk.DestroyDevice(handle, nullptr);
}

// Kernels: the first family with compute. Beside: a family with compute and without graphics, because queues of one
// family take turns on an H100 (driver 580.159), and queues of two run at the same time. Copies: a family that only
// copies. If there is no such family, the queue of kernels.
void LogicalDevice::choose_queues() {
  const auto families = listed<VkQueueFamilyProperties>([this](std::uint32_t* count, VkQueueFamilyProperties* items) {
    instance.GetPhysicalDeviceQueueFamilyProperties(physical, count, items);
  });
  const auto first = [&](VkQueueFlags with, VkQueueFlags without) -> std::optional<std::uint32_t> {
    const auto found = std::ranges::find_if(families, [&](const VkQueueFamilyProperties& family) {
      return (family.queueFlags & with) == with && (family.queueFlags & without) == 0 && family.timestampValidBits > 0;
    });
    if (found == families.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - families.begin());
  };
  const auto any = first(VK_QUEUE_COMPUTE_BIT, 0);
  if (!any) throw std::runtime_error(description.renderer + " has no queue for compute shaders");
  kernels.computes = beside.computes = true;
  kernels.family = *any;
  beside.family = first(VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT).value_or(*any);
  copies.family = first(VK_QUEUE_TRANSFER_BIT, VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT).value_or(*any);
  for (const Queue* queue : queues_) {
    if (std::ranges::find(families_, queue->family) == families_.end()) families_.push_back(queue->family);
  }
}

void LogicalDevice::create_layouts() {
  std::array<VkDescriptorSetLayoutBinding, bindings> all{};
  for (std::uint32_t binding = 0; binding < bindings; ++binding) {
    all[binding] = {binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  }
  const VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr,
                                            VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR, bindings,
                                            all.data()};
  require(vk.CreateDescriptorSetLayout(handle, &set, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
  const VkPushConstantRange constants{VK_SHADER_STAGE_COMPUTE_BIT, 0, constant_bytes};
  const VkPipelineLayoutCreateInfo layout{
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, &set_layout_, 1, &constants};
  require(vk.CreatePipelineLayout(handle, &layout, nullptr, &pipeline_layout), "vkCreatePipelineLayout");
}

std::optional<std::uint32_t> LogicalDevice::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  for (std::uint32_t type = 0; type < memory_types_.memoryTypeCount; ++type) {
    if ((allowed >> type & 1) != 0 && (memory_types_.memoryTypes[type].propertyFlags & wanted) == wanted) return type;
  }
  return std::nullopt;
}

// Dedicated to the buffer: on an H200, other memory is slower, and large parts of it stall. Imported memory is larger
// than the buffer, as dedicated memory may not be.
LogicalDevice::Storage LogicalDevice::make_storage(std::int64_t bytes, Memory memory, const Sharing& sharing) const {
  const bool is_shared = sharing.is_exported || sharing.imported != nullptr;
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                                  shared_type};
  VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                          .pNext = is_shared ? &external : nullptr,
                          .size = static_cast<VkDeviceSize>(bytes),
                          .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                   VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  const bool has_address = description.has_matrices() && !is_shared;
  if (has_address) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (families_.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<std::uint32_t>(families_.size());
    info.pQueueFamilyIndices = families_.data();
  }
  Storage made;
  if (vk.CreateBuffer(handle, &info, nullptr, &made.buffer) != VK_SUCCESS) return {};
  VkMemoryRequirements needed{};
  vk.GetBufferMemoryRequirements(handle, made.buffer, &needed);
  const VkMemoryPropertyFlags better = memory == Memory::host   ? mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                       : memory == Memory::list ? mapped | local
                                                                : local;
  std::optional<std::uint32_t> type = memory_type(needed.memoryTypeBits, better);
  if (!type) type = memory_type(needed.memoryTypeBits, better & mapped);
  const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, shared_type};
  const VkMemoryAllocateFlagsInfo addressed{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                            .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryDedicatedAllocateInfo dedicated{.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                          .buffer = made.buffer};
  if (sharing.is_exported) dedicated.pNext = &exported;
  if (has_address) dedicated.pNext = &addressed;
  VkMemoryAllocateInfo allocated{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &dedicated, needed.size, type.value_or(0)};
  VkImportMemoryFdInfoKHR imported{.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = shared_type};
  if (sharing.imported != nullptr) {
    imported.fd = fcntl(sharing.imported->descriptor, F_DUPFD_CLOEXEC, 0);
    if (imported.fd < 0) {
      destroy(made);
      return {};
    }
    allocated.pNext = &imported;
    allocated.allocationSize = sharing.imported->bytes;
  }
  made.bytes = static_cast<std::int64_t>(allocated.allocationSize);
  const bool fits = type && needed.size <= allocated.allocationSize;
  if (fits && vk.AllocateMemory(handle, &allocated, nullptr, &made.memory) == VK_SUCCESS) {
    if (vk.BindBufferMemory(handle, made.buffer, made.memory, 0) == VK_SUCCESS) return made;
  } else if (sharing.imported != nullptr) {
    close(imported.fd);  // else the driver owns it
  }
  destroy(made);
  return {};
}

BufferId LogicalDevice::keep(const Storage& made) {
  storage_.emplace(++last_id_, made);
  return last_id_;
}

LogicalDevice::Allocation LogicalDevice::allocate(std::int64_t bytes, Memory memory) {
  const std::lock_guard lock(mutex_);
  destroy_passed();
  const Storage made = make_storage(bytes, memory, {});
  if (made.memory == VK_NULL_HANDLE) return {};
  void* data = nullptr;
  const bool is_mapped = memory == Memory::host || memory == Memory::list;
  if (is_mapped && vk.MapMemory(handle, made.memory, 0, VK_WHOLE_SIZE, 0, &data) != VK_SUCCESS) {
    destroy(made);
    return {};
  }
  return {.id = keep(made), .data = data};
}

BufferId LogicalDevice::allocate_in(const PeerMemory::Window& window, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  destroy_passed();
  Storage made;
  if (vk.GetMemoryFdKHR != nullptr) made = make_storage(bytes, Memory::message, {.imported = &window});
  if (made.memory == VK_NULL_HANDLE) {
    throw std::runtime_error(description.renderer + ": Vulkan imports no memory of CUDA");
  }
  return keep(made);
}

LogicalDevice::ExportedMemory LogicalDevice::export_memory(std::int64_t bytes) const {
  if (vk.GetMemoryFdKHR == nullptr) throw std::runtime_error(description.renderer + ": Vulkan exports no memory");
  const std::lock_guard lock(mutex_);
  const Storage made = make_storage(bytes, Memory::device, {.is_exported = true});
  if (made.memory == VK_NULL_HANDLE) return {};
  const VkMemoryGetFdInfoKHR wanted{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, made.memory, shared_type};
  ExportedMemory exported{.bytes = made.bytes};
  if (vk.GetMemoryFdKHR(handle, &wanted, &exported.file_descriptor) != VK_SUCCESS) exported.file_descriptor = -1;
  destroy(made);  // the file descriptor is a reference of its own to the memory
  return exported;
}

void LogicalDevice::free(BufferId id) {
  std::unique_lock lock(mutex_);
  const Storage storage = storage_.extract(id).mapped();
  lock.unlock();
  retire([this, storage] { destroy(storage); });
}

VkBuffer LogicalDevice::buffer_of(BufferId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = storage_.find(id);
  return found == storage_.end() ? VK_NULL_HANDLE : found->second.buffer;
}

std::uint64_t LogicalDevice::address_of(BufferId id) const {
  const VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, buffer_of(id)};
  return vk.GetBufferDeviceAddress(handle, &info);
}

void LogicalDevice::retire(std::function<void()> destroy) {
  const std::lock_guard lock(mutex_);
  retired_.push_back({std::move(destroy), {}});
  std::ranges::transform(queues_, retired_.back().values.begin(),
                         [](const Queue* queue) { return queue->submitted + (queue->is_recording ? 1 : 0); });
  destroy_passed();
}

void LogicalDevice::free_retired() {
  const std::lock_guard lock(mutex_);
  destroy_passed();
}

// Destructors call it: no error of the device is thrown.
void LogicalDevice::destroy_passed() {
  const auto has_passed = [this](const Queue* queue, std::uint64_t value) {
    std::uint64_t reached = 0;
    return vk.GetSemaphoreCounterValue(handle, queue->timeline, &reached) == VK_SUCCESS && reached >= value;
  };
  while (!retired_.empty() && std::equal(queues_.begin(), queues_.end(), retired_.front().values.begin(), has_passed)) {
    retired_.front().destroy();
    retired_.pop_front();
  }
}

void LogicalDevice::destroy(const Storage& storage) const {
  vk.DestroyBuffer(handle, storage.buffer, nullptr);
  vk.FreeMemory(handle, storage.memory, nullptr);
}

Query LogicalDevice::take_query() {
  const std::lock_guard lock(mutex_);
  if (free_queries_.empty()) {
    const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = queries_of_pool};
    VkQueryPool pool = VK_NULL_HANDLE;
    require(vk.CreateQueryPool(handle, &info, nullptr, &pool), "vkCreateQueryPool");
    query_pools_.push_back(pool);
    for (std::uint32_t index = 0; index < queries_of_pool; ++index) free_queries_.push_back({pool, index});
  }
  const Query query = free_queries_.back();
  free_queries_.pop_back();
  return query;
}

void LogicalDevice::give_query(const Query& query) {
  const std::lock_guard lock(mutex_);
  free_queries_.push_back(query);
}

void LogicalDevice::submit(Queue& queue, const VkSubmitInfo& info) {
  const std::lock_guard lock(mutex_);  // two queues may have one VkQueue
  require(vk.QueueSubmit(queue.handle, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

std::uint64_t LogicalDevice::passed(const Queue& queue) const {
  std::uint64_t value = 0;
  require(vk.GetSemaphoreCounterValue(handle, queue.timeline, &value), "vkGetSemaphoreCounterValue");
  return value;
}

void LogicalDevice::wait(const Queue& queue, std::uint64_t value) const {
  const VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &queue.timeline, &value};
  require(vk.WaitSemaphores(handle, &info, std::numeric_limits<std::uint64_t>::max()), "vkWaitSemaphores");
}

}  // namespace glinpack::vulkan
