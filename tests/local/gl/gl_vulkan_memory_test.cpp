// Matrices in device memory that Vulkan allocates; on software OpenGL by Mesa's software Vulkan driver.
#include <GL/glew.h>
#include <gtest/gtest.h>

#include "gl/gl_compute.hpp"
#include "gl/storage.hpp"
#include "gl/vulkan_memory.hpp"
#include "host/host_memory.hpp"
#include "kernels/compute_memory.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack {
namespace {

using namespace test;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::int64_t resident_bytes() { return number_named("/proc/self/status", "VmRSS").value() * 1024; }

class GlVulkanMemory : public testing::Test {
 protected:
  std::shared_ptr<gl::Context> context_ = gl::Context::create(0, true);
  std::unique_ptr<gl::VulkanMemory> memory_ = gl::VulkanMemory::open(context_);
};

TEST_F(GlVulkanMemory, updates_give_the_same_bits_as_in_memory_of_opengl) {
  constexpr Index n = 600, depth = 64;  // beyond 1 MiB, below which matrices are in OpenGL's memory
  const auto updated = [&](gl::MatrixMemory memory) {
    Timeline timeline;
    const BackendOptions options{.debug = true};
    const auto backend = make_gl_compute_backend<float>(options, timeline, {}, memory);
    const auto a = on_device(*backend, random_values<float>(n, n, 1));
    const auto l21 = on_device(*backend, random_values<float>(depth, n, 2));
    const auto u12 = on_device(*backend, random_values<float>(depth, n, 3));
    backend->update(whole(*l21), whole(*u12), whole(*a));
    return from_device(*backend, *a);
  };
  EXPECT_EQ(updated(gl::MatrixMemory::vulkan), updated(gl::MatrixMemory::opengl));
}

TEST_F(GlVulkanMemory, a_deleted_buffer_frees_its_memory) {
  constexpr std::int64_t bytes = 32 * mebibyte;
  const auto allocate_and_touch = [&] {
    gl::MemoryObjectHandle memory;
    const gl::BufferHandle buffer(context_);
    memory = memory_->allocate(buffer.id(), bytes);
    ASSERT_NE(memory.id(), 0U);
    gl::fill_buffer(context_, buffer.id(), bytes);
    glFinish();
  };
  allocate_and_touch();
  const std::int64_t before = resident_bytes();
  const int objects = count_gl_objects(*context_);
  for (int i = 0; i < 10; ++i) allocate_and_touch();
  EXPECT_LT(resident_bytes() - before, 2 * bytes);
  EXPECT_EQ(count_gl_objects(*context_), objects);
}

TEST_F(GlVulkanMemory, a_buffer_outlives_the_vulkan_device) {
  gl::MemoryObjectHandle memory;
  const gl::BufferHandle buffer(context_);
  memory = memory_->allocate(buffer.id(), mebibyte);
  memory_.reset();
  const auto other = gl::Context::create_sharing(*context_);
  EXPECT_NO_THROW(context_->make_current());
  gl::fill_buffer(context_, buffer.id(), mebibyte);
  const GLuint written = 42;
  glClearNamedBufferData(buffer.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &written);
  GLuint read = 0;
  glGetNamedBufferSubData(buffer.id(), mebibyte - 4, 4, &read);
  EXPECT_EQ(read, written);
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
}

TEST_F(GlVulkanMemory, a_size_beyond_the_device_is_refused_without_an_error) {
  const gl::BufferHandle buffer(context_);
  EXPECT_EQ(memory_->allocate(buffer.id(), std::int64_t{1} << 50).id(), 0U);
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
  EXPECT_NO_THROW(context_->throw_debug_error());
}

}  // namespace
}  // namespace glinpack
