// A compute device, as kernels see it: one queue of commands of a GPU API. gl/ and vulkan/ implement it.
//
// Commands run in the order of the calls, on one thread at a time. Dispatches with no barrier between them may run at
// the same time. A program keeps its uniforms, a binding its buffer, until they are set again.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/device_catalog.hpp"
#include "backend/peer_memory.hpp"
#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"

namespace glinpack {

class ShaderSource;

/// The device's number of a buffer.
using BufferId = std::uint32_t;

/// device: for kernels only. matrix: the same, by the allocator for matrices. host: host memory that the device reads
/// and writes in place. list: where the host writes and the device reads. message: the device's, in a window of
/// PeerMemory.
enum class Memory { device, matrix, host, list, message };

/// Freed once the commands that use it are done.
class DeviceBuffer : NonCopyable {
 public:
  virtual ~DeviceBuffer() = default;
  BufferId id() const { return id_; }
  /// Mapped host memory; null for memory of the device.
  void* data() const { return data_; }
  /// The address of Memory::message; 0 for others.
  PeerAddress peer_address() const { return peer_address_; }

 protected:
  DeviceBuffer(BufferId id, void* data, PeerAddress peer_address = 0)
      : id_(id), data_(data), peer_address_(peer_address) {}

 private:
  BufferId id_;
  void* data_;
  PeerAddress peer_address_;
};

class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  /// Sets the uniform at `location`, an int, ivec2 or ivec4, for later dispatches.
  template <std::integral... Values>
  void set(int location, Values... values) {
    const std::array<std::int32_t, sizeof...(values)> words{static_cast<std::int32_t>(values)...};
    set_words(location, words);
  }

 protected:
  virtual void set_words(int location, std::span<const std::int32_t> words) = 0;
};

/// A place in a queue, which its commands before that have passed or not.
class DeviceSync {
 public:
  virtual ~DeviceSync() = default;
  /// Does not wait.
  virtual bool has_passed() const = 0;
  /// Flushes the calling thread's queue and waits. Another thread's queue must have been flushed. Throws
  /// std::runtime_error when the device was lost.
  virtual void wait() const = 0;
};

/// A time on the device's clock.
class DeviceStamp {
 public:
  virtual ~DeviceStamp() = default;
  /// Takes the time when all commands so far are done.
  virtual void record() = 0;
  virtual bool is_available() const = 0;
  /// Waits until it is available.
  virtual std::int64_t nanoseconds() const = 0;
};

/// Those that see what shaders have written before a barrier. Values are combined by |.
enum class Readers : unsigned { shaders = 1, copies = 2, host = 4 };
constexpr Readers operator|(Readers a, Readers b) {
  return static_cast<Readers>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool includes(Readers readers, Readers one) {
  return (static_cast<unsigned>(readers) & static_cast<unsigned>(one)) != 0;
}

/// copies: between host and device. kernels: those that run beside the kernels of the first queue.
enum class QueueUse { copies, kernels };

class ComputeDevice : NonCopyable {
 public:
  virtual ~ComputeDevice() = default;

  /// What it can do: limits, subgroups, and whether it is software. Memory as it was when the device was opened.
  const DeviceDescription& description() const { return description_; }
  /// Bytes that can be allocated now; 0 if the driver does not report it.
  virtual std::int64_t free_memory() const = 0;
  /// Directs the calling thread's commands to this queue; cheap if they already are.
  virtual void make_current() const = 0;
  /// Throws std::runtime_error with the first error that the driver reported since the last call, if the device was
  /// opened with BackendOptions::debug.
  virtual void throw_debug_error() = 0;
  /// Throws std::runtime_error with `what` if a command failed.
  virtual void throw_error(const char* what) const = 0;

  /// Null if the API has none. Throws std::runtime_error with the reason if there are none here.
  virtual PeerMemory* open_peers() { return nullptr; }
  /// Null if there is not that much memory. The content is undefined. Memory::message: after open_peers().
  virtual std::unique_ptr<DeviceBuffer> allocate(std::int64_t bytes, Memory memory) = 0;
  /// Fills the first `bytes`, a multiple of 4, with copies of a word. False if there is no memory: a driver may
  /// allocate it only now.
  virtual bool fill(BufferId buffer, std::int64_t bytes, std::uint32_t word) = 0;
  /// Where programs see it without a binding. Only if DeviceDescription::has_matrices().
  virtual std::uint64_t address_of(BufferId) const { return 0; }
  /// The program of a compute shader file in the variant of `preamble`, lines of #define; of Vulkan also of a .spv,
  /// whose preamble lists the values of its specialization constants from 0 on. Throws std::runtime_error with the
  /// driver's log; ShaderFolderError if part of the source comes from a folder.
  virtual std::unique_ptr<DeviceProgram> make_program(const ShaderSource& sources, const std::string& name,
                                                      const std::string& preamble) = 0;
  /// Bytes first ... first + bytes - 1 as storage block `binding` of later dispatches; all bytes without a range.
  virtual void bind(std::uint32_t binding, BufferId buffer, std::int64_t first, std::int64_t bytes) = 0;
  virtual void bind(std::uint32_t binding, BufferId buffer) = 0;
  virtual void dispatch(DeviceProgram& program, Index groups_x, Index groups_y = 1) = 0;
  virtual void barrier(Readers readers) = 0;
  /// to <- from, which do not overlap in one buffer.
  virtual void copy(BufferId from, std::int64_t from_first, BufferId to, std::int64_t to_first, std::int64_t bytes) = 0;

  /// After all commands so far.
  virtual std::unique_ptr<DeviceSync> insert_sync() = 0;
  /// Later commands wait for that sync of another queue, which must have been flushed.
  virtual void wait_for(const DeviceSync& sync) = 0;
  /// The device starts the commands so far.
  virtual void flush() = 0;
  /// Waits for all commands.
  virtual void finish() = 0;
  virtual std::unique_ptr<DeviceStamp> make_stamp() = 0;
  /// The device's clock, now.
  virtual std::int64_t nanoseconds() const = 0;
  /// Another queue with the same buffers, for the calling thread; of kernels only if the description has several.
  /// Throws std::runtime_error if there is none.
  virtual std::shared_ptr<ComputeDevice> open_queue(QueueUse use) const = 0;

 protected:
  DeviceDescription description_;
};

}  // namespace glinpack
