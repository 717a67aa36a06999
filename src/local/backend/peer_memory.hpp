// Copies between GPUs of one host that belong to different processes, without the host's memory: a process's GPU makes
// windows, which the other processes map and copy from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/non_copyable.hpp"

namespace glinpack {

/// A byte of a GPU's memory, as PeerMemory sees it; 0: none.
using PeerAddress = std::uint64_t;

/// Functions throw std::runtime_error with the driver's function and error.
class PeerMemory : NonCopyable {
 public:
  virtual ~PeerMemory() = default;

  struct Window {
    PeerAddress address = 0;
    std::size_t bytes = 0;  // at least those that were asked for
    int descriptor = -1;    // for another process to map; -1 in a process that has mapped it
  };
  using Windows = std::vector<Window>;
  /// Memory of this process's GPU.
  virtual Window make_window(std::size_t bytes) = 0;
  /// The window of another process, from a duplicate of its descriptor.
  virtual Window map_window(int descriptor, std::size_t bytes) = 0;
  virtual void free_window(const Window& window) noexcept = 0;
  /// Those that make_window() made and that are not freed.
  virtual const Windows& own_windows() const = 0;
  /// Copies between the host's memory and this GPU's, done when they return.
  virtual void write(std::span<const std::byte> from, PeerAddress to) = 0;
  virtual void read(PeerAddress from, std::span<std::byte> to) = 0;

  /// Starts to copy bytes that nothing else writes. Copies run in the order of the calls.
  virtual void copy(PeerAddress from, PeerAddress to, std::size_t bytes) = 0;
  /// Waits for all copies.
  virtual void wait() = 0;
};

}  // namespace glinpack
