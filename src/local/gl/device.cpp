// The verbs of a compute device, by OpenGL.
#include <utility>

#include "gl/context.hpp"
#include "gl/program.hpp"
#include "gl/storage.hpp"
#include "gl/vulkan_memory.hpp"

namespace glinpack::gl {
namespace {

class Buffer final : public DeviceBuffer {
 public:
  Buffer(MemoryObjectHandle memory, BufferHandle handle, void* data)
      : DeviceBuffer(handle.id(), data), memory_(std::move(memory)), handle_(std::move(handle)) {}

 private:
  MemoryObjectHandle memory_;  // from Vulkan, else empty; deleted after the buffer in it
  BufferHandle handle_;
};

class ComputeProgram final : public DeviceProgram {
 public:
  explicit ComputeProgram(Program program) : program_(std::move(program)) {}
  void use() const { program_.use(); }

 protected:
  void set_words(int location, std::span<const std::int32_t> words) override {
    if (words.size() == 1) return program_.set(location, words[0]);
    if (words.size() == 2) return program_.set(location, words[0], words[1]);
    program_.set(location, words[0], words[1], words[2], words[3]);
  }

 private:
  Program program_;
};

class Sync final : public DeviceSync {
 public:
  explicit Sync(const std::shared_ptr<Context>& context) : handle_(context) {}
  GLsync id() const { return handle_.id(); }
  bool has_passed() const override {
    const GLenum status = glClientWaitSync(id(), 0, 0);
    return status == GL_ALREADY_SIGNALED || status == GL_CONDITION_SATISFIED;
  }
  void wait() const override {
    constexpr GLuint64 second = 1'000'000'000;
    GLenum status = GL_TIMEOUT_EXPIRED;
    while (status == GL_TIMEOUT_EXPIRED) status = glClientWaitSync(id(), GL_SYNC_FLUSH_COMMANDS_BIT, second);
    if (status == GL_WAIT_FAILED) throw std::runtime_error("the device was lost: waiting for its work failed");
  }

 private:
  SyncHandle handle_;
};

class Stamp final : public DeviceStamp {
 public:
  explicit Stamp(const std::shared_ptr<Context>& context) : handle_(context) {}
  void record() override { glQueryCounter(handle_.id(), GL_TIMESTAMP); }
  bool is_available() const override {
    GLint available = GL_FALSE;
    glGetQueryObjectiv(handle_.id(), GL_QUERY_RESULT_AVAILABLE, &available);
    return available == GL_TRUE;
  }
  std::int64_t nanoseconds() const override {
    GLuint64 nanoseconds = 0;
    glGetQueryObjectui64v(handle_.id(), GL_QUERY_RESULT, &nanoseconds);
    return static_cast<std::int64_t>(nanoseconds);
  }

 private:
  TimestampHandle handle_;
};

// Vulkan drivers may limit the number of allocations to 4096, each of whole pages.
constexpr std::int64_t min_vulkan_bytes = std::int64_t{1} << 20;

GLbitfield access_of(Memory memory) {
  constexpr GLbitfield mapped = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  if (memory == Memory::list) return mapped;
  return memory == Memory::host ? mapped | GL_MAP_READ_BIT : 0;
}

}  // namespace

void Context::set_matrix_memory(std::unique_ptr<VulkanMemory> memory) { matrix_memory_ = std::move(memory); }

std::unique_ptr<DeviceBuffer> Context::allocate(std::int64_t bytes, Memory memory) {
  BufferHandle buffer(shared_from_this());
  MemoryObjectHandle object;
  if (memory == Memory::matrix && matrix_memory_ && bytes >= min_vulkan_bytes) {
    object = matrix_memory_->allocate(buffer.id(), bytes);
  }
  const GLbitfield access = access_of(memory), storage = memory == Memory::host ? GL_CLIENT_STORAGE_BIT : 0;
  if (object.id() == 0 && !allocate_storage(*this, buffer.id(), bytes, access | storage)) return nullptr;
  void* data = nullptr;
  if (access != 0) {
    data = glMapNamedBufferRange(buffer.id(), 0, static_cast<GLsizeiptr>(bytes), access);
    if (!data) return nullptr;
  }
  return std::make_unique<Buffer>(std::move(object), std::move(buffer), data);
}

bool Context::fill(BufferId buffer, std::int64_t bytes, std::uint32_t word) {
  fill_buffer(shared_from_this(), buffer, bytes, word);
  const bool filled = glGetError() == GL_NO_ERROR;
  if (!filled) discard_debug_error();
  return filled;
}

std::unique_ptr<DeviceProgram> Context::make_program(const ShaderSource& sources, const std::string& name,
                                                     const std::string& preamble) {
  return std::make_unique<ComputeProgram>(
      Program::compute(shared_from_this(), sources, ProgramCache(), name, preamble));
}

void Context::bind(std::uint32_t binding, BufferId buffer, std::int64_t first, std::int64_t bytes) {
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, buffer, first, bytes);
}

void Context::bind(std::uint32_t binding, BufferId buffer) {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, buffer);
}

void Context::dispatch(DeviceProgram& program, Index groups_x, Index groups_y) {
  static_cast<const ComputeProgram&>(program).use();
  glDispatchCompute(static_cast<GLuint>(groups_x), static_cast<GLuint>(groups_y), 1);
}

void Context::barrier(Readers readers) {
  GLbitfield bits = 0;
  if (includes(readers, Readers::shaders)) bits |= GL_SHADER_STORAGE_BARRIER_BIT;
  if (includes(readers, Readers::copies)) bits |= GL_BUFFER_UPDATE_BARRIER_BIT;
  if (includes(readers, Readers::host)) bits |= GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT;
  glMemoryBarrier(bits);
}

void Context::copy(BufferId from, std::int64_t from_first, BufferId to, std::int64_t to_first, std::int64_t bytes) {
  glCopyNamedBufferSubData(from, to, from_first, to_first, bytes);
}

std::unique_ptr<DeviceSync> Context::insert_sync() { return std::make_unique<Sync>(shared_from_this()); }

void Context::wait_for(const DeviceSync& sync) {
  glWaitSync(static_cast<const Sync&>(sync).id(), 0, GL_TIMEOUT_IGNORED);
}

void Context::flush() { glFlush(); }

void Context::finish() { glFinish(); }

std::unique_ptr<DeviceStamp> Context::make_stamp() { return std::make_unique<Stamp>(shared_from_this()); }

std::int64_t Context::nanoseconds() const {
  GLint64 nanoseconds = 0;
  glGetInteger64v(GL_TIMESTAMP, &nanoseconds);
  return nanoseconds;
}

}  // namespace glinpack::gl
