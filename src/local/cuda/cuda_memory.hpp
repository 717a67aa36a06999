// Peer copies of NVIDIA's GPUs by CUDA's driver interface, which is opened at run time: Vulkan itself does not share
// memory with another process's GPU. Memory that Vulkan exports is imported, windows are CUDA's own.
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

  /// Memory that Vulkan has exported and still owns. Closes the descriptor.
  struct Imported {
    void* memory = nullptr;
    PeerAddress address = 0;
  };
  Imported import(int descriptor, std::size_t bytes);
  void free_import(const Imported& imported) noexcept;

  Window make_window(std::size_t bytes) override;
  Window map_window(int descriptor, std::size_t bytes) override;
  void free_window(const Window& window) noexcept override;
  void write(std::span<const std::byte> from, PeerAddress to) override;
  void read(PeerAddress from, std::span<std::byte> to) override;
  void copy(PeerAddress from, PeerAddress to, std::size_t bytes) override;
  void copy_rows(const Rows& from, const Rows& to, std::size_t bytes, std::size_t count) override;
  void wait() override;

 private:
  Window map(std::uint64_t handle, std::size_t bytes);

  int device_ = 0;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace glinpack
