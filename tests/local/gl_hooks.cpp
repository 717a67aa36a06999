// For all tests of a program that use OpenGL: fresh buffers and textures are full of NaNs and have canaries, which are
// compared when they are deleted. GLINPACK_TEST_SHADERS names a folder for the texts of all shaders.
//
// Buffers, in memory of OpenGL or of Vulkan, have a canary before and one behind their data: all offsets are moved. The
// first is as long as the strictest alignment of a binding. Above 64 MiB, only the canaries are filled.
// Textures of four components have one at the right and one at the top. None is at the left and at the bottom: it would
// move the origin, which shaders know. Those of one component have none: Poisson's solvers read the border of theirs at
// coordinates relative to its size, and nothing distinguishes these textures from others when they are made.
#include <GL/glew.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr GLuint not_a_number = 0x7FF7FFF7;  // as float; twice, as double
constexpr GLsizeiptr canary_bytes = 256;
constexpr GLsizei canary_texels = 8;  // columns and rows
constexpr GLsizeiptr largest_filled = GLsizeiptr{64} << 20;

constexpr std::string_view canary_label = "canary";  // of textures that have canaries

// OpenGL's functions that are replaced.
decltype(__glewNamedBufferStorage) named_buffer_storage;
decltype(__glewNamedBufferStorageMemEXT) named_buffer_storage_mem;
decltype(__glewDeleteBuffers) delete_buffers;
decltype(__glewClearNamedBufferData) clear_named_buffer_data;
decltype(__glewClearNamedBufferSubData) clear_named_buffer_sub_data;
decltype(__glewNamedBufferSubData) named_buffer_sub_data;
decltype(__glewGetNamedBufferSubData) get_named_buffer_sub_data;
decltype(__glewCopyNamedBufferSubData) copy_named_buffer_sub_data;
decltype(__glewMapNamedBufferRange) map_named_buffer_range;
decltype(__glewBindBufferBase) bind_buffer_base;
decltype(__glewBindBufferRange) bind_buffer_range;
decltype(__glewVertexArrayVertexBuffer) vertex_array_vertex_buffer;
decltype(__glewTextureBuffer) texture_buffer;
decltype(__glewTextureStorage2D) texture_storage;
decltype(__glewClearTexImage) clear_tex_image;
decltype(__glewTextureSubImage2D) texture_sub_image;
decltype(__glewGetTextureSubImage) get_texture_sub_image;
decltype(__glewCompileShader) compile_shader;

// Every buffer with storage. Not known by a label: NVIDIA's driver does not show it to contexts that share the buffer.
bool has_canaries(GLuint buffer) {
  GLint allocated = GL_FALSE;
  if (glIsBuffer(buffer) != GL_FALSE) {
    glGetNamedBufferParameteriv(buffer, GL_BUFFER_IMMUTABLE_STORAGE, &allocated);
  }
  return allocated != GL_FALSE;
}
bool is_labelled(GLuint texture) {
  if (glIsTexture(texture) == GL_FALSE) return false;
  std::array<GLchar, 16> label{};
  glGetObjectLabel(GL_TEXTURE, texture, label.size(), nullptr, label.data());
  return label.data() == canary_label;
}

/// Where the data of a buffer begins.
GLintptr begin_of(GLuint buffer) { return has_canaries(buffer) ? canary_bytes : 0; }
/// The bytes between the canaries.
GLsizeiptr bytes_of(GLuint buffer) {
  GLint64 bytes = 0;
  glGetNamedBufferParameteri64v(buffer, GL_BUFFER_SIZE, &bytes);
  return static_cast<GLsizeiptr>(bytes) - 2 * canary_bytes;
}
constexpr GLsizeiptr with_canaries(GLsizeiptr bytes) { return (bytes + 3) / 4 * 4 + 2 * canary_bytes; }

void fill_fresh(GLuint buffer) {
  if (!has_canaries(buffer)) return;  // too large
  const auto fill = [buffer](GLintptr begin, GLsizeiptr bytes) {
    clear_named_buffer_sub_data(buffer, GL_R32UI, begin, bytes, GL_RED_INTEGER, GL_UNSIGNED_INT, &not_a_number);
  };
  const GLsizeiptr bytes = bytes_of(buffer);
  fill(0, canary_bytes);
  if (bytes <= largest_filled) fill(canary_bytes, bytes);
  fill(canary_bytes + bytes, canary_bytes);
  glFinish();  // before other contexts write to it
}

void GLAPIENTRY storage_with_canaries(GLuint buffer, GLsizeiptr bytes, const void* data, GLbitfield flags) {
  if (bytes <= 0) return named_buffer_storage(buffer, bytes, data, flags);
  named_buffer_storage(buffer, with_canaries(bytes), nullptr, flags | GL_DYNAMIC_STORAGE_BIT);
  fill_fresh(buffer);
  if (data != nullptr) glNamedBufferSubData(buffer, 0, bytes, data);
}

void GLAPIENTRY storage_of_memory_with_canaries(GLuint buffer, GLsizeiptr bytes, GLuint memory, GLuint64 offset) {
  named_buffer_storage_mem(buffer, with_canaries(bytes), memory, offset);
  fill_fresh(buffer);
}

void GLAPIENTRY clear_between(GLuint buffer, GLenum internal, GLenum format, GLenum type, const void* data) {
  if (!has_canaries(buffer)) return clear_named_buffer_data(buffer, internal, format, type, data);
  clear_named_buffer_sub_data(buffer, internal, canary_bytes, bytes_of(buffer), format, type, data);
}

void GLAPIENTRY clear_moved(GLuint buffer, GLenum internal, GLintptr begin, GLsizeiptr bytes, GLenum format,
                            GLenum type, const void* data) {
  clear_named_buffer_sub_data(buffer, internal, begin_of(buffer) + begin, bytes, format, type, data);
}

void GLAPIENTRY write_moved(GLuint buffer, GLintptr begin, GLsizeiptr bytes, const void* data) {
  named_buffer_sub_data(buffer, begin_of(buffer) + begin, bytes, data);
}

void GLAPIENTRY read_moved(GLuint buffer, GLintptr begin, GLsizeiptr bytes, void* data) {
  get_named_buffer_sub_data(buffer, begin_of(buffer) + begin, bytes, data);
}

void GLAPIENTRY copy_moved(GLuint from, GLuint to, GLintptr begin_from, GLintptr begin_to, GLsizeiptr bytes) {
  copy_named_buffer_sub_data(from, to, begin_of(from) + begin_from, begin_of(to) + begin_to, bytes);
}

void* GLAPIENTRY map_moved(GLuint buffer, GLintptr begin, GLsizeiptr bytes, GLbitfield access) {
  return map_named_buffer_range(buffer, begin_of(buffer) + begin, bytes, access);
}

// Includes the canary behind: llvmpipe drops what shaders write behind the end of a binding.
void GLAPIENTRY bind_moved(GLenum target, GLuint index, GLuint buffer) {
  if (!has_canaries(buffer)) return bind_buffer_base(target, index, buffer);
  bind_buffer_range(target, index, buffer, canary_bytes, bytes_of(buffer) + canary_bytes);
}

void GLAPIENTRY bind_range_moved(GLenum target, GLuint index, GLuint buffer, GLintptr begin, GLsizeiptr bytes) {
  bind_buffer_range(target, index, buffer, begin_of(buffer) + begin, bytes);
}

void GLAPIENTRY vertices_moved(GLuint array, GLuint index, GLuint buffer, GLintptr begin, GLsizei stride) {
  vertex_array_vertex_buffer(array, index, buffer, begin_of(buffer) + begin, stride);
}

void GLAPIENTRY texels_moved(GLuint texture, GLenum format, GLuint buffer) {
  if (!has_canaries(buffer)) return texture_buffer(texture, format, buffer);
  glTextureBufferRange(texture, format, buffer, canary_bytes, bytes_of(buffer));
}

void compare(GLuint buffer, GLintptr begin, const char* where) {
  std::array<GLuint, canary_bytes / 4> words{};
  get_named_buffer_sub_data(buffer, begin, canary_bytes, words.data());
  const auto changed = std::ranges::find_if(words, [](GLuint word) { return word != not_a_number; });
  EXPECT_TRUE(changed == words.end()) << "a buffer of " << bytes_of(buffer) << " bytes was written " << where
                                      << ", byte " << 4 * (changed - words.begin()) << " of the canary";
}

void GLAPIENTRY delete_with_canaries(GLsizei count, const GLuint* buffers) {
  for (const GLuint* buffer = buffers; buffer != buffers + count; ++buffer) {
    if (!has_canaries(*buffer)) continue;
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    compare(*buffer, 0, "before its beginning");
    compare(*buffer, canary_bytes + bytes_of(*buffer), "behind its end");
  }
  delete_buffers(count, buffers);
}

struct Extent {
  GLint width = 0, height = 0;  // without canaries
};
Extent extent_of(GLuint texture) {
  Extent extent;
  glGetTextureLevelParameteriv(texture, 0, GL_TEXTURE_WIDTH, &extent.width);
  glGetTextureLevelParameteriv(texture, 0, GL_TEXTURE_HEIGHT, &extent.height);
  return {extent.width - canary_texels, extent.height - canary_texels};
}

void GLAPIENTRY texture_with_canaries(GLuint texture, GLsizei levels, GLenum format, GLsizei width, GLsizei height) {
  GLint largest = 0, allocated = GL_FALSE;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  const bool has_room = format == GL_RGBA32F && std::max(width, height) + canary_texels <= largest;
  const GLsizei more = has_room ? canary_texels : 0;
  texture_storage(texture, levels, format, width + more, height + more);
  glGetTextureParameteriv(texture, GL_TEXTURE_IMMUTABLE_FORMAT, &allocated);
  if (allocated == GL_FALSE) return;
  const std::array<GLuint, 4> texel{not_a_number, not_a_number, not_a_number, not_a_number};
  const bool holds_words = format == GL_RGBA32UI;  // of doubles: NaNs, too
  clear_tex_image(texture, 0, holds_words ? GL_RGBA_INTEGER : GL_RGBA, holds_words ? GL_UNSIGNED_INT : GL_FLOAT,
                  texel.data());
  if (has_room) {
    glObjectLabel(GL_TEXTURE, texture, static_cast<GLsizei>(canary_label.size()), canary_label.data());
  }
}

void GLAPIENTRY clear_texture_between(GLuint texture, GLint level, GLenum format, GLenum type, const void* data) {
  if (!is_labelled(texture)) return clear_tex_image(texture, level, format, type, data);
  const Extent extent = extent_of(texture);
  glClearTexSubImage(texture, level, 0, 0, 0, extent.width, extent.height, 1, format, type, data);
}

void compare_texels(GLuint texture, GLint x, GLint y, GLsizei width, GLsizei height) {
  std::vector<float> texels(std::size_t{4} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  get_texture_sub_image(texture, 0, x, y, 0, width, height, 1, GL_RGBA, GL_FLOAT,
                        static_cast<GLsizei>(texels.size() * sizeof(float)), texels.data());
  const auto written = std::ranges::find_if(texels, [](float texel) { return texel == texel; });
  const auto at = static_cast<GLint>((written - texels.begin()) / 4);
  EXPECT_TRUE(written == texels.end()) << "a texture was written at " << x + at % width << ", " << y + at / width;
}

/// Adds the beginning of the bound pixel buffer's data to an offset in it.
template <class Pointer>
Pointer moved_in(GLenum binding, Pointer offset) {
  GLint buffer = 0;
  glGetIntegerv(binding, &buffer);
  if (buffer == 0) return offset;
  return reinterpret_cast<Pointer>(reinterpret_cast<GLintptr>(offset) + begin_of(static_cast<GLuint>(buffer)));
}

void GLAPIENTRY texels_from_moved(GLuint texture, GLint level, GLint x, GLint y, GLsizei width, GLsizei height,
                                  GLenum format, GLenum type, const void* data) {
  texture_sub_image(texture, level, x, y, width, height, format, type, moved_in(GL_PIXEL_UNPACK_BUFFER_BINDING, data));
}

void GLAPIENTRY texels_to_moved(GLuint texture, GLint level, GLint x, GLint y, GLint z, GLsizei width, GLsizei height,
                                GLsizei depth, GLenum format, GLenum type, GLsizei bytes, void* data) {
  get_texture_sub_image(texture, level, x, y, z, width, height, depth, format, type, bytes,
                        moved_in(GL_PIXEL_PACK_BUFFER_BINDING, data));
}

std::string suffix_of(GLuint shader) {
  GLint kind = 0;
  glGetShaderiv(shader, GL_SHADER_TYPE, &kind);
  return kind == GL_COMPUTE_SHADER ? ".comp" : kind == GL_FRAGMENT_SHADER ? ".frag" : ".vert";
}

void GLAPIENTRY compile_and_write(GLuint shader) {
  compile_shader(shader);
  const char* const folder = std::getenv("GLINPACK_TEST_SHADERS");
  GLint compiled = GL_FALSE, length = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (folder == nullptr || compiled == GL_FALSE) return;  // some tests compile wrong shaders
  glGetShaderiv(shader, GL_SHADER_SOURCE_LENGTH, &length);
  std::string text(static_cast<std::size_t>(length), '\0');
  glGetShaderSource(shader, length, &length, text.data());
  text.resize(static_cast<std::size_t>(length));
  const std::string name = std::to_string(std::hash<std::string>{}(text)) + suffix_of(shader);
  std::ofstream(std::string(folder) + "/" + name) << text;
}

template <class Function>
void replace(Function& pointer, Function& original, Function replacement) {
  if (pointer == replacement) return;
  original = pointer;
  pointer = replacement;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// libGLEW's, and then the functions above.
GLenum GLAPIENTRY glewInit() {
  static const auto original = next<decltype(&glewInit)>("glewInit");
  const GLenum status = original();
  replace(__glewNamedBufferStorage, named_buffer_storage, &storage_with_canaries);
  replace(__glewNamedBufferStorageMemEXT, named_buffer_storage_mem, &storage_of_memory_with_canaries);
  replace(__glewDeleteBuffers, delete_buffers, &delete_with_canaries);
  replace(__glewClearNamedBufferData, clear_named_buffer_data, &clear_between);
  replace(__glewClearNamedBufferSubData, clear_named_buffer_sub_data, &clear_moved);
  replace(__glewNamedBufferSubData, named_buffer_sub_data, &write_moved);
  replace(__glewGetNamedBufferSubData, get_named_buffer_sub_data, &read_moved);
  replace(__glewCopyNamedBufferSubData, copy_named_buffer_sub_data, &copy_moved);
  replace(__glewMapNamedBufferRange, map_named_buffer_range, &map_moved);
  replace(__glewBindBufferBase, bind_buffer_base, &bind_moved);
  replace(__glewBindBufferRange, bind_buffer_range, &bind_range_moved);
  replace(__glewVertexArrayVertexBuffer, vertex_array_vertex_buffer, &vertices_moved);
  replace(__glewTextureBuffer, texture_buffer, &texels_moved);
  replace(__glewTextureStorage2D, texture_storage, &texture_with_canaries);
  replace(__glewClearTexImage, clear_tex_image, &clear_texture_between);
  replace(__glewTextureSubImage2D, texture_sub_image, &texels_from_moved);
  replace(__glewGetTextureSubImage, get_texture_sub_image, &texels_to_moved);
  replace(__glewCompileShader, compile_shader, &compile_and_write);
  return status;
}

// of OpenGL 1.1, which GLEW does not load
void GLAPIENTRY glReadPixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type, void* data) {
  static const auto original = next<decltype(&glReadPixels)>("glReadPixels");
  original(x, y, width, height, format, type, moved_in(GL_PIXEL_PACK_BUFFER_BINDING, data));
}

void GLAPIENTRY glDeleteTextures(GLsizei count, const GLuint* textures) {
  static const auto original = next<decltype(&glDeleteTextures)>("glDeleteTextures");
  for (const GLuint* texture = textures; texture != textures + count; ++texture) {
    if (!is_labelled(*texture)) continue;
    const auto [width, height] = extent_of(*texture);
    glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
    compare_texels(*texture, width, 0, canary_texels, height + canary_texels);
    compare_texels(*texture, 0, height, width, canary_texels);
  }
  original(count, textures);
}

}  // extern "C"
