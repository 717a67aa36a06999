// Peer copies of NVIDIA's GPUs by CUDA's driver interface, which is opened at run time: Vulkan itself does not share
// memory with another process's GPU. Windows are CUDA's memory, which Vulkan can import. Copies from another GPU's
// memory run beside the GPU's kernels; those within its own take turns with Vulkan's kernels, and stop
// them (results/h200-x2/logs.md copies-beside-kernels).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backend/peer_memory.hpp"

namespace glinpack {

class CudaMemory final : public PeerMemory {
 public:
  /// Whether there is a driver with a GPU.
  static bool is_usable();
  /// Of the GPU with this UUID (DeviceDescription::uuid). Throws std::runtime_error if the driver does not have it.
  explicit CudaMemory(std::string_view uuid);
  ~CudaMemory() override;

  Window make_window(std::size_t bytes) override;
  Window map_window(int descriptor, std::size_t bytes) override;
  void free_window(const Window& window) noexcept override;
  const Windows& own_windows() const override { return own_windows_; }
  void write(std::span<const std::byte> from, PeerAddress to) override;
  void read(PeerAddress from, std::span<std::byte> to) override;
  void copy(PeerAddress from, PeerAddress to, std::size_t bytes) override;
  void wait() override;

 private:
  Window map(std::uint64_t handle, std::size_t bytes);

  int device_ = 0;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  Windows own_windows_;
};

}  // namespace glinpack
