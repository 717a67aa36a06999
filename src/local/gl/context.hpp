// A headless OpenGL 4.5 core context on one EGL device (EGL_PLATFORM_DEVICE_EXT, no surface).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gl/devices.hpp"

namespace glinpack::gl {

/// Owns an EGL context. Every GL object holds a shared pointer to its context, so that the context outlives it. Not
/// thread-safe.
class Context {
 public:
  /// On device `device_index`, as list_devices() counts, and current afterwards. `debug` asks for KHR_debug: see
  /// throw_debug_error(). Throws std::runtime_error with cause and remedy.
  static std::shared_ptr<Context> create(int device_index, bool debug = false);
  /// A second queue of commands on the same device, which shares buffers, textures, programs and fences with `other`;
  /// current afterwards. Throws as create does.
  static std::shared_ptr<Context> create_sharing(const Context& other);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  /// Makes this context current; cheap when it already is.
  void make_current() const;
  /// Makes this context, or one that shares its objects, current; cheap if one is.
  void make_sharing_current() const;
  /// Renderer, limits and memory; memory as it was when the context was created.
  const DeviceDescription& device() const { return device_; }
  /// Whether the driver has an extension, such as "GL_EXT_memory_object".
  bool has_extension(std::string_view name) const;
  /// Bytes that can be allocated now; 0 if the driver does not report it.
  std::int64_t free_memory() const;
  /// Throws std::runtime_error with the first error that the driver reported through KHR_debug since the last call.
  void throw_debug_error();
  void discard_debug_error() { debug_error_.clear(); }
  /// Throws std::runtime_error with `what` if glGetError() returns an error.
  void throw_gl_error(const char* what) const;

 private:
  Context(int device_index, bool debug);
  Context(const Context& other, DeviceDescription device);
  void create_context(bool debug);
  void describe(int device_index);
  void destroy();

  void* display_ = nullptr;  // EGLDisplay and EGLContext: void pointers keep EGL out of this header
  void* context_ = nullptr;
  std::shared_ptr<std::vector<void*>> sharing_;  // the contexts that share objects, this one among them
  DeviceDescription device_;
  std::string debug_error_;
};

/// Restores the current context in its destructor.
class CurrentContextGuard {
 public:
  CurrentContextGuard();
  CurrentContextGuard(const CurrentContextGuard&) = delete;
  CurrentContextGuard& operator=(const CurrentContextGuard&) = delete;
  ~CurrentContextGuard();

 private:
  void* display_;
  void* context_;
  void* draw_;
  void* read_;
};

}  // namespace glinpack::gl
