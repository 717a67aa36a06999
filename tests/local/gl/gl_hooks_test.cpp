// The canaries of tests/local/gl_hooks.cpp: without these tests, no other one could fail by them.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "gl/context.hpp"
#include "gl/vulkan_memory.hpp"

namespace {

class GlHooks : public testing::Test {
 protected:
  static GLuint fresh_buffer(GLsizeiptr bytes) {
    GLuint buffer = 0;
    glCreateBuffers(1, &buffer);
    glNamedBufferStorage(buffer, bytes, nullptr, 0);
    return buffer;
  }
  static void zero(GLuint buffer, GLintptr begin) {
    glClearNamedBufferSubData(buffer, GL_R32UI, begin, 4, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
  }

  std::shared_ptr<glinpack::gl::Context> context_ = glinpack::gl::Context::create(0, true);
};

TEST_F(GlHooks, AWriteOutsideOfABufferFailsATest) {
  static GLuint buffer = 0;
  buffer = fresh_buffer(100);
  float fresh = 0;
  glGetNamedBufferSubData(buffer, 96, 4, &fresh);
  EXPECT_TRUE(fresh != fresh);
  zero(buffer, 0);
  zero(buffer, 96);
  zero(buffer, 104);
  EXPECT_NONFATAL_FAILURE(glDeleteBuffers(1, &buffer), "written behind its end, byte 4");
  buffer = fresh_buffer(GLsizeiptr{65} << 20);
  zero(buffer, -4);
  EXPECT_NONFATAL_FAILURE(glDeleteBuffers(1, &buffer), "written before its beginning, byte 252");
}

TEST_F(GlHooks, AWriteOutsideOfMemoryOfVulkanFailsATest) {
  const auto vulkan = glinpack::gl::VulkanMemory::open(context_);
  static GLuint buffer = 0;
  glCreateBuffers(1, &buffer);
  const auto memory = vulkan->allocate(buffer, 1 << 20);
  float fresh = 0;
  glGetNamedBufferSubData(buffer, 1000, 4, &fresh);
  EXPECT_TRUE(fresh != fresh);
  zero(buffer, 1 << 20);
  EXPECT_NONFATAL_FAILURE(glDeleteBuffers(1, &buffer), "written behind its end, byte 0");
}

TEST_F(GlHooks, ATexelBesideATextureFailsATest) {
  static GLuint texture = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &texture);
  glTextureStorage2D(texture, 1, GL_RGBA32F, 5, 3);
  const float one[] = {1, 1, 1, 1};
  glTextureSubImage2D(texture, 0, 5, 1, 1, 1, GL_RGBA, GL_FLOAT, one);
  EXPECT_NONFATAL_FAILURE(glDeleteTextures(1, &texture), "a texture was written at 5, 1");
}

}  // namespace
