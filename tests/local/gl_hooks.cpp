// For all tests of a program that use OpenGL: fresh buffers are full of NaNs and have a canary behind them, which is
// compared when they are deleted. GLINPACK_TEST_SHADERS names a folder for the texts of all shaders.
#include <GL/glew.h>
#include <dlfcn.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gl/context.hpp"

namespace {

constexpr GLuint not_a_number = 0x7FF7FFF7;  // as float; twice, as double
constexpr GLsizeiptr canary_bytes = 256;
constexpr GLsizeiptr largest_filled = GLsizeiptr{64} << 20;

constexpr std::string_view canary_label = "canary";  // of buffers that have one

decltype(__glewNamedBufferStorage) named_buffer_storage;
decltype(__glewDeleteBuffers) delete_buffers;
decltype(__glewClearNamedBufferData) clear_named_buffer_data;
decltype(__glewCompileShader) compile_shader;

/// Its offset in the buffer.
std::optional<GLintptr> canary_of(GLuint buffer) {
  if (glIsBuffer(buffer) == GL_FALSE) return std::nullopt;
  std::array<GLchar, 16> label{};
  glGetObjectLabel(GL_BUFFER, buffer, label.size(), nullptr, label.data());
  if (label.data() != canary_label) return std::nullopt;
  GLint64 bytes = 0;
  glGetNamedBufferParameteri64v(buffer, GL_BUFFER_SIZE, &bytes);
  return static_cast<GLintptr>(bytes) - canary_bytes;
}

void GLAPIENTRY storage_with_canary(GLuint buffer, GLsizeiptr bytes, const void* data, GLbitfield flags) {
  if (bytes <= 0 || bytes > largest_filled) return named_buffer_storage(buffer, bytes, data, flags);
  named_buffer_storage(buffer, (bytes + 3) / 4 * 4 + canary_bytes, nullptr, flags | GL_DYNAMIC_STORAGE_BIT);
  GLint allocated = GL_FALSE;
  glGetNamedBufferParameteriv(buffer, GL_BUFFER_IMMUTABLE_STORAGE, &allocated);
  if (allocated == GL_FALSE) return;
  clear_named_buffer_data(buffer, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &not_a_number);
  if (data != nullptr) glNamedBufferSubData(buffer, 0, bytes, data);
  glObjectLabel(GL_BUFFER, buffer, static_cast<GLsizei>(canary_label.size()), canary_label.data());
}

void GLAPIENTRY clear_before_canary(GLuint buffer, GLenum internal, GLenum format, GLenum type, const void* data) {
  const auto canary = canary_of(buffer);
  if (!canary) return clear_named_buffer_data(buffer, internal, format, type, data);
  glClearNamedBufferSubData(buffer, internal, 0, *canary, format, type, data);
}

void GLAPIENTRY delete_with_canary(GLsizei count, const GLuint* buffers) {
  for (const GLuint* buffer = buffers; buffer != buffers + count; ++buffer) {
    const auto canary = canary_of(*buffer);
    if (!canary) continue;
    std::array<GLuint, canary_bytes / 4> words{};
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glGetNamedBufferSubData(*buffer, *canary, canary_bytes, words.data());
    const auto changed = std::ranges::find_if(words, [](GLuint word) { return word != not_a_number; });
    EXPECT_TRUE(changed == words.end()) << "a buffer of " << *canary << " bytes was written "
                                        << 4 * (changed - words.begin()) << " bytes behind its end";
  }
  delete_buffers(count, buffers);
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

TEST(GlHooks, AWriteBehindABufferFailsATest) {
  const auto context = glinpack::gl::Context::create(0, true);
  static GLuint buffer = 0;
  glCreateBuffers(1, &buffer);
  glNamedBufferStorage(buffer, 100, nullptr, 0);
  float fresh = 0;
  glGetNamedBufferSubData(buffer, 96, 4, &fresh);
  EXPECT_TRUE(fresh != fresh);
  glClearNamedBufferSubData(buffer, GL_R32UI, 104, 4, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
  EXPECT_NONFATAL_FAILURE(glDeleteBuffers(1, &buffer), "written 4 bytes behind its end");
}

}  // namespace

// libGLEW's, and then the functions above.
extern "C" GLenum GLAPIENTRY glewInit() {
  static const auto original = reinterpret_cast<GLenum (*)()>(dlsym(RTLD_NEXT, "glewInit"));
  const GLenum status = original();
  replace(__glewNamedBufferStorage, named_buffer_storage, &storage_with_canary);
  replace(__glewClearNamedBufferData, clear_named_buffer_data, &clear_before_canary);
  replace(__glewDeleteBuffers, delete_buffers, &delete_with_canary);
  replace(__glewCompileShader, compile_shader, &compile_and_write);
  return status;
}
