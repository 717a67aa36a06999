// A compute device of Vulkan: a queue whose commands are recorded, and submitted at syncs and flushes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend_record.hpp"
#include "device/compute_device.hpp"
#include "vulkan/logical_device.hpp"

namespace glinpack::vulkan {

class Device final : public ComputeDevice {
 public:
  /// The device of the options; `debug` asks for the validation layer. Throws std::runtime_error with cause and remedy.
  explicit Device(const BackendOptions& options);
  /// Another queue of the same device.
  Device(std::shared_ptr<LogicalDevice> logical, Queue& queue);
  ~Device() override;

  std::int64_t free_memory() const override { return logical_->free_memory(); }
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
  bool start_beside() override;
  void leave_beside() override;
  void join_beside() override;
  std::unique_ptr<DeviceSync> insert_sync() override;
  void wait_for(const DeviceSync& sync) override;
  void flush() override;
  void finish() override;
  std::unique_ptr<DeviceStamp> make_stamp() override;
  std::int64_t nanoseconds() const override;
  std::shared_ptr<ComputeDevice> open_queue() const override;

  /// The command buffer that is being recorded.
  VkCommandBuffer commands();
  const std::shared_ptr<LogicalDevice>& logical() const { return logical_; }
  bool computes() const { return queue_.computes; }

 private:
  explicit Device(const std::shared_ptr<LogicalDevice>& logical);

  struct Submitted {
    std::uint64_t value = 0;
    VkCommandBuffer commands = VK_NULL_HANDLE;
  };
  struct Wait {
    VkSemaphore timeline = VK_NULL_HANDLE;
    std::uint64_t value = 0;
  };
  struct Binding {
    BufferId buffer = 0;
    VkDeviceSize first = 0;
    VkDeviceSize bytes = 0;
    bool is_pushed = false;  // to the command buffer
  };
  void begin_copy(VkCommandBuffer recorded) const;
  void end_copy(VkCommandBuffer recorded) const;
  void push_bindings(VkCommandBuffer recorded, std::uint32_t used);

  std::shared_ptr<LogicalDevice> logical_;
  Queue& queue_;
  std::unique_ptr<Device> beside_;  // once it was started
  bool is_beside_ = false;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::deque<Submitted> submitted_;
  std::vector<Wait> waits_;  // of the next submission
  std::array<Binding, LogicalDevice::bindings> bindings_{};
};

}  // namespace glinpack::vulkan
