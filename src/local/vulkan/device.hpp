// A compute device of Vulkan: a queue whose commands are recorded, and submitted at syncs and flushes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/non_copyable.hpp"
#include "device/compute_device.hpp"
#include "vulkan/logical_device.hpp"

namespace glinpack::vulkan {

/// SPIR-V by glslang, and its pipeline.
class Program final : public DeviceProgram, NonCopyable {
 public:
  /// From the program cache if it holds it. Throws as ComputeDevice::make_program() does.
  Program(std::shared_ptr<LogicalDevice> device, const ShaderSource& sources, const std::string& name,
          const std::string& preamble);
  ~Program() override;

  VkPipeline pipeline() const { return pipeline_; }
  std::uint32_t bindings() const { return bindings_; }
  const void* constants() const { return constants_.data(); }

 protected:
  void set_words(int location, std::span<const std::int32_t> words) override;

 private:
  std::shared_ptr<LogicalDevice> device_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::uint32_t bindings_ = 0;
  std::array<std::int32_t, LogicalDevice::constant_bytes / 4> constants_{};
};

class Device final : public ComputeDevice {
 public:
  Device(std::shared_ptr<LogicalDevice> logical, Queue& queue);
  ~Device() override;

  std::int64_t free_memory() const override;
  void make_current() const override {}
  void throw_debug_error() override;
  void throw_error(const char*) const override {}  // functions throw themselves
  PeerMemory* open_peers() override;
  std::unique_ptr<DeviceBuffer> allocate(std::int64_t bytes, Memory memory) override;
  bool fill(BufferId buffer, std::int64_t bytes, std::uint32_t word) override;
  std::uint64_t address_of(BufferId buffer) const override { return logical_->address_of(buffer); }
  std::unique_ptr<DeviceProgram> make_program(const ShaderSource& sources, const std::string& name,
                                              const std::string& preamble) override;
  void bind(std::uint32_t binding, BufferId buffer, std::int64_t first, std::int64_t bytes) override;
  void bind(std::uint32_t binding, BufferId buffer) override;
  void dispatch(DeviceProgram& program, Index groups_x, Index groups_y) override;
  void barrier(Readers readers) override;
  void copy(BufferId from, std::int64_t from_first, BufferId to, std::int64_t to_first, std::int64_t bytes) override;
  std::unique_ptr<DeviceSync> insert_sync() override;
  void wait_for(const DeviceSync& sync) override;
  void flush() override;
  void finish() override;
  std::unique_ptr<DeviceStamp> make_stamp() override;
  std::int64_t nanoseconds() const override;
  std::shared_ptr<ComputeDevice> open_queue(QueueUse use) const override;

  /// The command buffer that is being recorded.
  VkCommandBuffer commands();
  const std::shared_ptr<LogicalDevice>& logical() const { return logical_; }
  bool computes() const { return queue_.computes; }

 private:
  void submit_waits();
  struct Submitted {
    std::uint64_t value = 0;
    VkCommandBuffer commands = VK_NULL_HANDLE;
  };
  template <class Command>
  void record_copy(Command command);
  void push_bindings(VkCommandBuffer recorded, std::uint32_t used);

  std::shared_ptr<LogicalDevice> logical_;
  Queue& queue_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::deque<Submitted> submitted_;
  std::vector<VkSemaphore> awaited_;  // by the next submission
  std::vector<std::uint64_t> awaited_values_;
  std::array<VkDescriptorBufferInfo, LogicalDevice::bindings> bound_{};
  std::uint32_t pushed_ = 0;  // bits of the bindings that the command buffer has
};

}  // namespace glinpack::vulkan
