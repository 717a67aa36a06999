#include "vulkan/device.hpp"

#include <stdexcept>
#include <utility>

#include "cuda/cuda_memory.hpp"
#include "vulkan/devices.hpp"

namespace glinpack::vulkan {
namespace {

class Buffer final : public DeviceBuffer {
 public:
  Buffer(std::shared_ptr<LogicalDevice> device, const LogicalDevice::Allocation& allocation)
      : DeviceBuffer(allocation.id, allocation.data), device_(std::move(device)) {}
  ~Buffer() override { device_->free(id()); }

 private:
  std::shared_ptr<LogicalDevice> device_;
};

// In a window, so that other processes copy from the buffer itself. The import keeps the window's memory.
class MessageBuffer final : public DeviceBuffer {
 public:
  MessageBuffer(std::shared_ptr<LogicalDevice> device, std::int64_t bytes)
      : MessageBuffer(device, bytes, device->peers->make_window(static_cast<std::size_t>(bytes))) {}
  ~MessageBuffer() override {
    device_->free(id());
    device_->peers->free_window(window_);
  }

 private:
  MessageBuffer(const std::shared_ptr<LogicalDevice>& device, std::int64_t bytes, const PeerMemory::Window& window)
      : DeviceBuffer(allocate(*device, bytes, window), nullptr, window.address), device_(device), window_(window) {}
  static BufferId allocate(LogicalDevice& device, std::int64_t bytes, const PeerMemory::Window& window) {
    try {
      return device.allocate_in(window, bytes);
    } catch (const std::runtime_error&) {
      device.peers->free_window(window);
      throw;
    }
  }

  std::shared_ptr<LogicalDevice> device_;
  PeerMemory::Window window_;
};

class Sync final : public DeviceSync {
 public:
  Sync(std::shared_ptr<LogicalDevice> device, const Queue& of)
      : queue(of), value(of.submitted), device_(std::move(device)) {}
  bool has_passed() const override { return device_->passed(queue) >= value; }
  void wait() const override { device_->wait(queue, value); }

  const Queue& queue;
  const std::uint64_t value;  // of its timeline

 private:
  std::shared_ptr<LogicalDevice> device_;
};

class Stamp final : public DeviceStamp, NonCopyable {
 public:
  explicit Stamp(Device& device) : device_(device), logical_(device.logical()), query_(logical_->take_query()) {}
  ~Stamp() override { logical_->give_query(query_); }

  void record() override {
    const VkCommandBuffer commands = device_.commands();
    // a queue of copies cannot reset it; there, it was read before
    if (device_.computes()) {
      logical_->vk.CmdResetQueryPool(commands, query_.pool, query_.index, 1);
    } else {
      logical_->vk.ResetQueryPool(logical_->handle, query_.pool, query_.index, 1);
    }
    logical_->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, query_.pool, query_.index);
  }
  bool is_available() const override {
    std::uint64_t ticks = 0;
    return result(ticks, 0) == VK_SUCCESS;
  }
  std::int64_t nanoseconds() const override {
    std::uint64_t ticks = 0;
    require(result(ticks, VK_QUERY_RESULT_WAIT_BIT), "vkGetQueryPoolResults");
    return static_cast<std::int64_t>(static_cast<double>(ticks) * logical_->nanoseconds_per_tick);
  }

 private:
  VkResult result(std::uint64_t& ticks, VkQueryResultFlags flags) const {
    return logical_->vk.GetQueryPoolResults(logical_->handle, query_.pool, query_.index, 1, sizeof ticks, &ticks,
                                            sizeof ticks, flags | VK_QUERY_RESULT_64_BIT);
  }

  Device& device_;
  std::shared_ptr<LogicalDevice> logical_;
  Query query_;
};

void order(const Functions& vk, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
           VkPipelineStageFlags to, VkAccessFlags seen) {
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, written, seen};
  vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

constexpr VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                               transfer = VK_PIPELINE_STAGE_TRANSFER_BIT, host = VK_PIPELINE_STAGE_HOST_BIT;
constexpr VkAccessFlags by_shaders = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                        by_copies = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

}  // namespace

Device::Device(std::shared_ptr<LogicalDevice> logical, Queue& queue) : logical_(std::move(logical)), queue_(queue) {
  description_ = logical_->description;
  const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                     VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, queue_.family};
  require(logical_->vk.CreateCommandPool(logical_->handle, &info, nullptr, &pool_), "vkCreateCommandPool");
}

Device::~Device() {
  try {
    finish();
  } catch (const std::runtime_error&) {
    // the device was lost: nothing runs any more
  }
  logical_->vk.DestroyCommandPool(logical_->handle, pool_, nullptr);
}

std::shared_ptr<ComputeDevice> Device::open_queue(QueueUse use) const {
  return std::make_shared<Device>(logical_, use == QueueUse::copies ? logical_->copies : logical_->beside);
}

std::int64_t Device::free_memory() const {
  logical_->free_retired();
  return free_memory_of(logical_->instance, logical_->physical, description_.software);
}

void Device::throw_debug_error() {
  const std::string message = take_validation_message();
  if (!message.empty()) throw std::runtime_error("Vulkan reports: " + message);
}

std::unique_ptr<DeviceBuffer> Device::allocate(std::int64_t bytes, Memory memory) {
  if (memory == Memory::message) try {
      return std::make_unique<MessageBuffer>(logical_, bytes);
    } catch (const std::runtime_error&) {
      return nullptr;  // open_peers() has tried one
    }
  const LogicalDevice::Allocation allocation = logical_->allocate(bytes, memory);
  return allocation.id == 0 ? nullptr : std::make_unique<Buffer>(logical_, allocation);
}

PeerMemory* Device::open_peers() {
  if (!logical_->may_have_peers || !cuda_is_usable()) return nullptr;
  if (logical_->peers) return logical_->peers.get();
  logical_->peers = open_cuda_memory(description_.uuid);
  try {
    MessageBuffer(logical_, 1);  // a failure must come before a run relies on it
  } catch (const std::runtime_error&) {
    logical_->peers.reset();
    throw;
  }
  return logical_->peers.get();
}

VkCommandBuffer Device::commands() {
  if (commands_ != VK_NULL_HANDLE) return commands_;
  const Functions& vk = logical_->vk;
  if (!submitted_.empty() && logical_->passed(queue_) >= submitted_.front().value) {
    commands_ = submitted_.front().commands;
    submitted_.pop_front();
  } else {
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    require(vk.AllocateCommandBuffers(logical_->handle, &info, &commands_), "vkAllocateCommandBuffers");
  }
  const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  require(vk.BeginCommandBuffer(commands_, &info), "vkBeginCommandBuffer");
  pushed_ = 0;
  queue_.is_recording = true;
  return commands_;
}

void Device::flush() {
  if (commands_ == VK_NULL_HANDLE) return;
  const VkCommandBuffer ended = std::exchange(commands_, VK_NULL_HANDLE);
  require(logical_->vk.EndCommandBuffer(ended), "vkEndCommandBuffer");
  const std::vector<VkPipelineStageFlags> stages(awaited_.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  const auto waits = static_cast<std::uint32_t>(awaited_.size());
  const std::uint64_t next = queue_.submitted + 1;
  const VkTimelineSemaphoreSubmitInfo timeline{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, waits, awaited_values_.data(), 1, &next};
  logical_->submit(queue_, {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                            .pNext = &timeline,
                            .waitSemaphoreCount = waits,
                            .pWaitSemaphores = awaited_.data(),
                            .pWaitDstStageMask = stages.data(),
                            .commandBufferCount = 1,
                            .pCommandBuffers = &ended,
                            .signalSemaphoreCount = 1,
                            .pSignalSemaphores = &queue_.timeline});
  queue_.submitted = next;
  queue_.is_recording = false;
  submitted_.push_back({next, ended});
  awaited_.clear();
  awaited_values_.clear();
}

// Waits for other queues are submitted, too, without commands after them: a fence covers them.
void Device::submit_waits() {
  if (!awaited_.empty()) commands();
  flush();
}

std::unique_ptr<DeviceSync> Device::insert_sync() {
  submit_waits();
  return std::make_unique<Sync>(logical_, queue_);
}

void Device::wait_for(const DeviceSync& sync) {
  flush();  // commands before it do not wait
  const auto& other = static_cast<const Sync&>(sync);
  awaited_.push_back(other.queue.timeline);
  awaited_values_.push_back(other.value);
}

void Device::finish() {
  submit_waits();
  logical_->wait(queue_, queue_.submitted);
}

std::unique_ptr<DeviceStamp> Device::make_stamp() { return std::make_unique<Stamp>(*this); }

std::int64_t Device::nanoseconds() const {
  const VkCalibratedTimestampInfoEXT info{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr,
                                          VK_TIME_DOMAIN_DEVICE_EXT};
  std::uint64_t ticks = 0, deviation = 0;
  require(logical_->vk.GetCalibratedTimestampsEXT(logical_->handle, 1, &info, &ticks, &deviation),
          "vkGetCalibratedTimestampsEXT");
  return static_cast<std::int64_t>(static_cast<double>(ticks) * logical_->nanoseconds_per_tick);
}

std::unique_ptr<DeviceProgram> Device::make_program(const ShaderSource& sources, const std::string& name,
                                                    const std::string& preamble) {
  return std::make_unique<Program>(logical_, sources, name, preamble);
}

void Device::bind(std::uint32_t binding, BufferId buffer, std::int64_t first, std::int64_t bytes) {
  bound_[binding] = {logical_->buffer_of(buffer), static_cast<VkDeviceSize>(first), static_cast<VkDeviceSize>(bytes)};
  pushed_ &= ~(1U << binding);
}

void Device::bind(std::uint32_t binding, BufferId buffer) {
  bind(binding, buffer, 0, static_cast<std::int64_t>(VK_WHOLE_SIZE));
}

void Device::push_bindings(VkCommandBuffer recorded, std::uint32_t used) {
  std::array<VkWriteDescriptorSet, LogicalDevice::bindings> writes{};
  std::uint32_t count = 0;
  for (std::uint32_t binding = 0; binding < LogicalDevice::bindings; ++binding) {
    if (((used & ~pushed_) >> binding & 1) == 0) continue;
    writes[count++] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                       .dstBinding = binding,
                       .descriptorCount = 1,
                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                       .pBufferInfo = &bound_[binding]};
  }
  if (count == 0) return;
  pushed_ |= used;
  logical_->vk.CmdPushDescriptorSetKHR(recorded, VK_PIPELINE_BIND_POINT_COMPUTE, logical_->pipeline_layout, 0, count,
                                       writes.data());
}

void Device::dispatch(DeviceProgram& program, Index groups_x, Index groups_y) {
  const auto& dispatched = static_cast<const Program&>(program);
  const VkCommandBuffer recorded = commands();
  const Functions& vk = logical_->vk;
  vk.CmdBindPipeline(recorded, VK_PIPELINE_BIND_POINT_COMPUTE, dispatched.pipeline());
  vk.CmdPushConstants(recorded, logical_->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                      LogicalDevice::constant_bytes, dispatched.constants());
  push_bindings(recorded, dispatched.bindings());
  vk.CmdDispatch(recorded, static_cast<std::uint32_t>(groups_x), static_cast<std::uint32_t>(groups_y), 1);
}

void Device::barrier(Readers readers) {
  VkPipelineStageFlags stages = 0;
  VkAccessFlags seen = 0;
  const auto add = [&](Readers one, VkPipelineStageFlags stage, VkAccessFlags access) {
    if (!includes(readers, one)) return;
    stages |= stage;
    seen |= access;
  };
  add(Readers::shaders, compute, by_shaders);
  add(Readers::copies, transfer, by_copies);
  add(Readers::host, host, VK_ACCESS_HOST_READ_BIT);
  order(logical_->vk, commands(), compute, VK_ACCESS_SHADER_WRITE_BIT, stages, seen);
}

// Commands see what copies before them wrote, and copies wait for the commands before them.
template <class Command>
void Device::record_copy(Command command) {
  const VkCommandBuffer recorded = commands();
  const VkPipelineStageFlags kernels = computes() ? compute : 0;
  const VkAccessFlags written = computes() ? VK_ACCESS_SHADER_WRITE_BIT : 0, seen = computes() ? by_shaders : 0;
  order(logical_->vk, recorded, transfer | kernels, VK_ACCESS_TRANSFER_WRITE_BIT | written, transfer, by_copies);
  command(recorded);
  order(logical_->vk, recorded, transfer, VK_ACCESS_TRANSFER_WRITE_BIT, transfer | host | kernels,
        by_copies | VK_ACCESS_HOST_READ_BIT | seen);
}

void Device::copy(BufferId from, std::int64_t from_first, BufferId to, std::int64_t to_first, std::int64_t bytes) {
  if (bytes == 0) return;
  const VkBufferCopy region{static_cast<VkDeviceSize>(from_first), static_cast<VkDeviceSize>(to_first),
                            static_cast<VkDeviceSize>(bytes)};
  record_copy([&](VkCommandBuffer recorded) {
    logical_->vk.CmdCopyBuffer(recorded, logical_->buffer_of(from), logical_->buffer_of(to), 1, &region);
  });
}

bool Device::fill(BufferId buffer, std::int64_t bytes, std::uint32_t word) {
  record_copy([&](VkCommandBuffer recorded) {
    logical_->vk.CmdFillBuffer(recorded, logical_->buffer_of(buffer), 0, static_cast<VkDeviceSize>(bytes), word);
  });
  return true;
}

}  // namespace glinpack::vulkan
