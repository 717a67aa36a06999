// Copies between GPUs of one host that belong to different processes. A process's GPU has a window, which the other
// processes map; buffers of its device are copied to and from windows without the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace glinpack {

/// A byte of a GPU's memory, as PeerMemory sees it; 0: none.
using PeerAddress = std::uint64_t;

/// Functions throw std::runtime_error with the driver's function and error.
class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  virtual ~PeerMemory() = default;

  struct Window {
    PeerAddress address = 0;
    std::size_t bytes = 0;
    int descriptor = -1;  // for another process to map; -1 in a process that has mapped it
  };
  /// Memory of this process's GPU.
  virtual Window make_window(std::size_t bytes) = 0;
  /// The window of another process, from a duplicate of its descriptor.
  virtual Window map_window(int descriptor, std::size_t bytes) = 0;
  virtual void free_window(const Window& window) noexcept = 0;
  /// Copies between the host's memory and this GPU's, done when they return.
  virtual void write(std::span<const std::byte> from, PeerAddress to) = 0;
  virtual void read(PeerAddress from, std::span<std::byte> to) = 0;

  /// Starts to copy bytes that nothing else writes. Copies run in the order of the calls.
  virtual void copy(PeerAddress from, PeerAddress to, std::size_t bytes) = 0;
  /// The same for rows of `bytes`, whose first bytes are a stride apart.
  struct Rows {
    PeerAddress first = 0;
    std::size_t stride = 0;
  };
  virtual void copy_rows(const Rows& from, const Rows& to, std::size_t bytes, std::size_t count) = 0;
  /// Waits for all copies.
  virtual void wait() = 0;
};

}  // namespace glinpack
