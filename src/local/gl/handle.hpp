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

/// Objects that GL creates and deletes by lists of names.
template <auto& create_names, auto& delete_names, bool is_shared>
struct NamedTraits {
  using Id = GLuint;
  static constexpr bool shared = is_shared;
  static Id create() {
    Id id = 0;
    create_names(1, &id);
    return id;
  }
  static void destroy(Id id) { delete_names(1, &id); }
};

/// The same for objects whose kind is given when they are created.
template <GLenum kind, auto& create_names, auto& delete_names, bool is_shared>
struct KindTraits : NamedTraits<create_names, delete_names, is_shared> {
  static GLuint create() {
    GLuint id = 0;
    create_names(kind, 1, &id);
    return id;
  }
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

struct SyncTraits {
  using Id = GLsync;
  static constexpr bool shared = true;
  static Id create() { return glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0); }
  static void destroy(Id id) { glDeleteSync(id); }
};

using BufferHandle = Handle<NamedTraits<glCreateBuffers, glDeleteBuffers, true>>;
/// Memory of another interface, GL_EXT_memory_object. Buffers in it need it until they are deleted.
using MemoryObjectHandle = Handle<NamedTraits<glCreateMemoryObjectsEXT, glDeleteMemoryObjectsEXT, true>>;
using ShaderHandle = Handle<ShaderTraits>;
using ProgramHandle = Handle<ProgramTraits>;
using SyncHandle = Handle<SyncTraits>;
using TimestampHandle = Handle<KindTraits<GL_TIMESTAMP, glCreateQueries, glDeleteQueries, false>>;
using TextureHandle = Handle<KindTraits<GL_TEXTURE_2D, glCreateTextures, glDeleteTextures, true>>;
using TexelBufferHandle = Handle<KindTraits<GL_TEXTURE_BUFFER, glCreateTextures, glDeleteTextures, true>>;
using FramebufferHandle = Handle<NamedTraits<glCreateFramebuffers, glDeleteFramebuffers, false>>;
using VertexArrayHandle = Handle<NamedTraits<glCreateVertexArrays, glDeleteVertexArrays, false>>;

}  // namespace glinpack::gl
