#include "gl/vulkan_memory.hpp"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "vulkan/logical_device.hpp"

namespace glinpack::gl {
namespace {

// Takes the file descriptor.
MemoryObjectHandle import(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes,
                          const vulkan::LogicalDevice::ExportedMemory& exported) {
  MemoryObjectHandle memory(context);
  const GLint yes = GL_TRUE;
  glMemoryObjectParameterivEXT(memory.id(), GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
  glImportMemoryFdEXT(memory.id(), static_cast<GLuint64>(exported.bytes), GL_HANDLE_TYPE_OPAQUE_FD_EXT,
                      exported.file_descriptor);
  if (glGetError() != GL_NO_ERROR) {
    close(exported.file_descriptor);  // OpenGL takes it only on success
    return {};
  }
  glNamedBufferStorageMemEXT(buffer, static_cast<GLsizeiptr>(bytes), memory.id(), 0);
  return glGetError() == GL_NO_ERROR ? std::move(memory) : MemoryObjectHandle{};
}

}  // namespace

VulkanMemory::VulkanMemory(Context& context, std::unique_ptr<vulkan::LogicalDevice> device)
    : context_(context), device_(std::move(device)) {}

VulkanMemory::~VulkanMemory() = default;

std::unique_ptr<VulkanMemory> VulkanMemory::open(const std::shared_ptr<Context>& context) {
  context->make_current();
  const std::string& uuid = context->description().uuid;
  if (uuid.empty() || !context->has_extension("GL_EXT_memory_object_fd")) {
    throw std::runtime_error("the OpenGL driver imports no memory of Vulkan");
  }
  auto device = std::make_unique<vulkan::LogicalDevice>(BackendOptions{.uuid = uuid});
  return std::unique_ptr<VulkanMemory>(new VulkanMemory(*context, std::move(device)));
}

MemoryObjectHandle VulkanMemory::allocate(GLuint buffer, std::int64_t bytes) const {
  constexpr std::int64_t tail = 1024;  // llvmpipe needs bytes after the end, and canaries of tests
  const auto exported = device_->export_memory(bytes + tail);
  MemoryObjectHandle imported;
  if (exported.file_descriptor >= 0) imported = import(context_.shared_from_this(), buffer, bytes, exported);
  if (imported.id() == 0) context_.discard_debug_error();
  return imported;
}

}  // namespace glinpack::gl
