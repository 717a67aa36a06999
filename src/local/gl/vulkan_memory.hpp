// Storage of OpenGL buffers in memory that Vulkan allocates (GL_EXT_memory_object_fd). Kernels read and write it twice
// as fast as OpenGL's own on an H200, and NVIDIA's driver keeps all of it on the GPU: results/h200/logs.md experiments.
#pragma once

#include <GL/glew.h>

#include <cstdint>
#include <memory>

#include "base/non_copyable.hpp"
#include "gl/context.hpp"
#include "gl/handle.hpp"

namespace glinpack::vulkan {
class LogicalDevice;
}

namespace glinpack::gl {

/// Not thread-safe.
class VulkanMemory : NonCopyable {
 public:
  /// On the device of the context, which becomes current and must outlive it. Throws std::runtime_error with the cause.
  static std::unique_ptr<VulkanMemory> open(const std::shared_ptr<Context>& context);
  ~VulkanMemory();

  /// Gives a buffer immutable storage in device memory, of undefined content. The memory is freed once both the buffer
  /// and the returned object are deleted, the buffer first; it may outlive this. An empty handle if Vulkan or OpenGL
  /// cannot: then the buffer has no storage, and no error is left.
  MemoryObjectHandle allocate(GLuint buffer, std::int64_t bytes) const;

 private:
  VulkanMemory(Context& context, std::unique_ptr<vulkan::LogicalDevice> device);
  Context& context_;  // may own it
  std::unique_ptr<vulkan::LogicalDevice> device_;
};

}  // namespace glinpack::gl
