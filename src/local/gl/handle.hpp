// OpenGL objects that delete themselves: one move-only template, one set of traits per kind of object.
#pragma once

#include <GL/glew.h>

#include <memory>
#include <utility>

#include "gl/context.hpp"

namespace glinpack::gl {

/// Owns one GL object and keeps its context alive. Traits: the type of the name, how to create and destroy
/// it, and whether contexts share it.
template <class Traits>
class Handle {
 public:
  using Id = typename Traits::Id;

  Handle() = default;
  /// Creates the object in `context`, which becomes current.
  template <class... Arguments>
  explicit Handle(std::shared_ptr<Context> context, Arguments... arguments) : context_(std::move(context)) {
    context_->make_current();
    id_ = Traits::create(arguments...);
  }
  Handle(Handle&& other) noexcept : context_(std::move(other.context_)), id_(std::exchange(other.id_, Id{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (!context_) return;
    if constexpr (Traits::shared) {
      context_->make_sharing_current();
    } else {
      context_->make_current();
    }
    Traits::destroy(id_);
  }

  Id id() const { return id_; }
  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  std::shared_ptr<Context> context_;
  Id id_{};
};

struct BufferTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create() {
    Id id = 0;
    glCreateBuffers(1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteBuffers(1, &id); }
};

/// Memory of another interface, GL_EXT_memory_object. Buffers in it need it until they are deleted.
struct MemoryObjectTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create() {
    Id id = 0;
    glCreateMemoryObjectsEXT(1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteMemoryObjectsEXT(1, &id); }
};

struct ShaderTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create(GLenum kind) { return glCreateShader(kind); }
  static void destroy(Id id) { glDeleteShader(id); }
};

struct ProgramTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create() { return glCreateProgram(); }
  // a program in use is not deleted, on Mesa not even after another one is in use
  static void destroy(Id id) {
    GLint current = 0;
    glGetIntegerv(GL_CURRENT_PROGRAM, &current);
    if (static_cast<Id>(current) == id) glUseProgram(0);
    glDeleteProgram(id);
  }
};

struct TimestampTraits {
  using Id = GLuint;
  static constexpr bool shared = false;
  static Id create() {
    Id id = 0;
    glCreateQueries(GL_TIMESTAMP, 1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteQueries(1, &id); }
};

struct SyncTraits {
  using Id = GLsync;
  static constexpr bool shared = true;
  static Id create() { return glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0); }
  static void destroy(Id id) { glDeleteSync(id); }
};

struct TextureTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create() {
    Id id = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteTextures(1, &id); }
};

struct TexelBufferTraits {
  using Id = GLuint;
  static constexpr bool shared = true;
  static Id create() {
    Id id = 0;
    glCreateTextures(GL_TEXTURE_BUFFER, 1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteTextures(1, &id); }
};

struct FramebufferTraits {
  using Id = GLuint;
  static constexpr bool shared = false;
  static Id create() {
    Id id = 0;
    glCreateFramebuffers(1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteFramebuffers(1, &id); }
};

struct VertexArrayTraits {
  using Id = GLuint;
  static constexpr bool shared = false;
  static Id create() {
    Id id = 0;
    glCreateVertexArrays(1, &id);
    return id;
  }
  static void destroy(Id id) { glDeleteVertexArrays(1, &id); }
};

using BufferHandle = Handle<BufferTraits>;
using MemoryObjectHandle = Handle<MemoryObjectTraits>;
using ShaderHandle = Handle<ShaderTraits>;
using ProgramHandle = Handle<ProgramTraits>;
using TimestampHandle = Handle<TimestampTraits>;
using SyncHandle = Handle<SyncTraits>;
using TextureHandle = Handle<TextureTraits>;
using TexelBufferHandle = Handle<TexelBufferTraits>;
using FramebufferHandle = Handle<FramebufferTraits>;
using VertexArrayHandle = Handle<VertexArrayTraits>;

}  // namespace glinpack::gl
