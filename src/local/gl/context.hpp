// A headless OpenGL 4.5 core context on one EGL device (EGL_PLATFORM_DEVICE_EXT, no surface), which is a compute
// device.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/non_copyable.hpp"
#include "device/compute_device.hpp"

namespace glinpack::gl {

class VulkanMemory;

/// Owns an EGL context. Every GL object holds a shared pointer to its context, so that the context outlives it. Not
/// thread-safe.
class Context final : public ComputeDevice, public std::enable_shared_from_this<Context> {
 public:
  /// On device `device_index`, as list_devices() counts, and current afterwards. `debug` asks for KHR_debug: see
  /// throw_debug_error(). Throws std::runtime_error with cause and remedy.
  static std::shared_ptr<Context> create(int device_index, bool debug = false);
  /// A second queue of commands on the same device, which shares buffers, textures, programs and fences with `other`;
  /// current afterwards. Throws as create does.
  static std::shared_ptr<Context> create_sharing(const Context& other);
  ~Context() override;

  /// Makes this context, or one that shares its objects, current; cheap if one is.
  void make_sharing_current() const;
  /// Allocates matrices from now on (Memory::matrix), if it can.
  void set_matrix_memory(std::unique_ptr<VulkanMemory> memory);
  /// Whether the driver has an extension, such as "GL_EXT_memory_object".
  bool has_extension(std::string_view name) const;
  void discard_debug_error() { debug_error_.clear(); }

  std::int64_t free_memory() const override;
  void make_current() const override;
  void throw_debug_error() override;
  void throw_error(const char* what) const override;
  std::unique_ptr<DeviceBuffer> allocate(std::int64_t bytes, Memory memory) override;
  bool fill(BufferId buffer, std::int64_t bytes, std::uint32_t word) override;
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
  std::shared_ptr<ComputeDevice> open_queue(QueueUse) const override { return create_sharing(*this); }

 private:
  Context() = default;
  Context(int device_index, bool debug);
  struct Sharing {};
  Context(const Context& other, Sharing);
  void create_context(bool debug);
  void describe(int device_index);

  void* display_ = nullptr;  // EGLDisplay and EGLContext: void pointers keep EGL out of this header
  void* context_ = nullptr;
  std::shared_ptr<std::vector<void*>> sharing_;  // the contexts that share objects, this one among them
  std::unique_ptr<VulkanMemory> matrix_memory_;
  std::string debug_error_;
};

/// Restores the current context in its destructor.
class CurrentContextGuard : NonCopyable {
 public:
  CurrentContextGuard();
  ~CurrentContextGuard();

 private:
  void* display_;
  void* context_;
  void* draw_;
  void* read_;
};

}  // namespace glinpack::gl
