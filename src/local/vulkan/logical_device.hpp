// A VkDevice: its memory, buffers and queues, which the queues of a ComputeDevice share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/backend_record.hpp"
#include "base/non_copyable.hpp"
#include "device/compute_device.hpp"
#include "vulkan/functions.hpp"

namespace glinpack::vulkan {

/// A queue, and a semaphore that counts what was submitted to it. Two of them may have one VkQueue.
struct Queue {
  VkQueue handle = VK_NULL_HANDLE;
  std::uint32_t family = 0;
  bool computes = false;
  VkSemaphore timeline = VK_NULL_HANDLE;
  std::atomic<std::uint64_t> submitted = 0;  // the timeline's value after the last submission
  std::atomic<bool> is_recording = false;    // commands that will be submitted next
};

/// A timestamp query.
struct Query {
  VkQueryPool pool = VK_NULL_HANDLE;
  std::uint32_t index = 0;
};

/// Threads may share it, if no two use the same queue.
class LogicalDevice : NonCopyable {
 public:
  /// Throws std::runtime_error with cause and remedy.
  explicit LogicalDevice(const BackendOptions& options);
  ~LogicalDevice();  // of a device whose queues have no work

  static constexpr std::uint32_t bindings = 8;
  static constexpr std::uint32_t constant_bytes = 128;  // of the push constants

  /// Calls destroy() when the work submitted or recorded so far is done.
  void retire(std::function<void()> destroy);
  /// Calls those that can be called now.
  void free_retired();

  struct Allocation {
    BufferId id = 0;
    void* data = nullptr;
  };
  /// An id of 0 if there is not that much memory.
  Allocation allocate(std::int64_t bytes, Memory memory);
  /// In a window of PeerMemory, whose memory it keeps. Throws std::runtime_error if the driver imports none.
  BufferId allocate_in(const PeerMemory::Window& window, std::int64_t bytes);
  void free(BufferId id);
  /// Memory of the device for another API to import, which then owns the descriptor.
  struct ExportedMemory {
    int file_descriptor = -1;  // -1: there is not that much memory, or the driver exports none
    std::int64_t bytes = 0;    // of the memory
  };
  ExportedMemory export_memory(std::int64_t bytes) const;
  /// Null if it was freed.
  VkBuffer buffer_of(BufferId id) const;
  std::uint64_t address_of(BufferId id) const;

  Query take_query();
  void give_query(const Query& query);

  /// Any thread may call it.
  void submit(Queue& queue, const VkSubmitInfo& info);
  std::uint64_t passed(const Queue& queue) const;
  void wait(const Queue& queue, std::uint64_t value) const;

  const Instance& instance;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  DeviceDescription description;
  VkDevice handle = VK_NULL_HANDLE;
  Functions vk;
  VkPipelineLayout pipeline_layout = VK_NULL_HANDLE;  // of all programs: storage buffers and push constants
  double nanoseconds_per_tick = 1;
  std::unique_ptr<PeerMemory> peers;  // null until it is opened
  bool may_have_peers = false;
  Queue kernels, beside, copies;  // beside: of kernels that run at the same time as those of `kernels`

 private:
  struct Storage {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::int64_t bytes = 0;  // of the memory
  };
  // Whether another API uses the memory, too.
  struct Sharing {
    bool is_exported = false;
    const PeerMemory::Window* imported = nullptr;
  };
  struct Retired {
    std::function<void()> destroy;
    std::array<std::uint64_t, 3> values{};  // of the queues, when it can be called
  };
  void choose_queues();
  void create_layouts();
  Storage make_storage(std::int64_t bytes, Memory memory, const Sharing& sharing) const;  // null if there is no memory
  BufferId keep(const Storage& made);
  std::optional<std::uint32_t> memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const;
  void destroy(const Storage& storage) const;
  void destroy_passed();

  const std::array<Queue*, 3> queues_{&kernels, &beside, &copies};
  VkPhysicalDeviceMemoryProperties memory_types_{};
  std::vector<std::uint32_t> families_;  // of the queues
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  mutable std::mutex mutex_;  // of what follows, and of vkQueueSubmit
  std::unordered_map<BufferId, Storage> storage_;
  BufferId last_id_ = 0;
  std::deque<Retired> retired_;
  std::vector<VkQueryPool> query_pools_;
  std::vector<Query> free_queries_;
};

}  // namespace glinpack::vulkan
