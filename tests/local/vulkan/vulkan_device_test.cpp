// What only Vulkan has: its validation, lost devices, and the canaries of tests/local/vulkan_hooks.cpp, by which other
// tests fail.
#include <glslang/Public/ShaderLang.h>
#include <gtest/gtest-spi.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "device/program_cache.hpp"
#include "device/shader_source.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/vulkan_hooks.hpp"
#include "vulkan/device.hpp"

namespace glinpack::test {
namespace {

using testing::HasSubstr;

std::string debug_error_of(ComputeDevice& device) {
  try {
    device.throw_debug_error();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

class VulkanDevice : public testing::Test {
 protected:
  std::shared_ptr<ComputeDevice> device_ = vulkan::open_compute_device({.debug = true});
};

// Without this test, no other one could fail by a message of the validation layer.
TEST_F(VulkanDevice, reports_copies_without_a_barrier_between_them) {
  const auto first = device_->allocate(1024, Memory::device), second = device_->allocate(1024, Memory::device);
  auto& device = dynamic_cast<vulkan::Device&>(*device_);
  const vulkan::LogicalDevice& logical = *device.logical();
  const VkBufferCopy region{0, 0, 512};
  const VkCommandBuffer commands = device.commands();
  for (int i = 0; i < 2; ++i) {
    logical.vk.CmdCopyBuffer(commands, logical.buffer_of(first->id()), logical.buffer_of(second->id()), 1, &region);
  }
  device_->finish();
  EXPECT_THAT(debug_error_of(*device_), HasSubstr("SYNC-HAZARD-WRITE-AFTER-WRITE"));
  EXPECT_EQ(debug_error_of(*device_), "no error");
}

TEST_F(VulkanDevice, a_write_outside_of_a_buffer_fails_a_test) {
  const auto zeros = device_->allocate(4, Memory::device);
  const auto seen = device_->allocate(100, Memory::host);
  const auto filled = [&](std::int64_t at) {
    auto buffer = device_->allocate(100, Memory::device);
    device_->fill(zeros->id(), 4, 0);
    device_->copy(buffer->id(), 0, seen->id(), 0, 100);
    device_->copy(zeros->id(), 0, buffer->id(), at, 4);
    device_->finish();
    EXPECT_TRUE(std::isnan(static_cast<const float*>(seen->data())[24])) << "fresh buffers have no values";
    return buffer;
  };
  filled(96);
  EXPECT_NONFATAL_FAILURE(filled(104), "written behind its end, byte 4");
  EXPECT_NONFATAL_FAILURE(filled(-4), "written before its beginning, byte 252");
}

// Otherwise a newer glslang would compile nothing.
TEST_F(VulkanDevice, caches_spirv_by_the_version_of_glslang) {
  std::string folder = (std::filesystem::temp_directory_path() / "glinpack-test-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  const char* const set = std::getenv("XDG_CACHE_HOME");
  const std::string old = set != nullptr ? set : "";
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const std::string preamble = "#define DOUBLE 0\n#define STRIPE_SHIFT 10\n#define LISTED 0\n";
  device_->make_program(ShaderSource(), "compute/copy.comp", preamble);
  const glslang::Version version = glslang::GetVersion();
  const std::string key = fmt::format("SPIR-V by glslang {}.{}.{}\n{}", version.major, version.minor, version.patch,
                                      ShaderSource().expand("compute/copy.comp", preamble));
  EXPECT_TRUE(ProgramCache().load(key).has_value());
  set != nullptr ? setenv("XDG_CACHE_HOME", old.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  std::filesystem::remove_all(folder);
}

// All that is enqueued after the loss throws; what is destroyed then does not wait.
TEST(VulkanComputeBackend, that_loses_its_device_says_so_and_ends) {
  Timeline timeline;
  auto backend = VkCase<float>::make({}, timeline);
  const auto values = random_values<float>(40, 40, 1);
  auto matrix = on_device(*backend, values);
  const auto message = [&](auto operation) -> std::string {
    try {
      operation();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  };
  vulkan_device_is_lost = true;
  EXPECT_THAT(message([&] { from_device(*backend, *matrix); }), HasSubstr("the device was lost"));
  EXPECT_THAT(message([&] {
                backend->copy(whole(*matrix), whole(*matrix));
                backend->wait_all();
              }),
              HasSubstr("the device was lost"));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(matrix.reset());
  EXPECT_NO_THROW(backend.reset());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  vulkan_device_is_lost = false;
}

// The validation layer reports a shader with doubles.
TEST(VulkanComputeBackend, without_double_precision_factorises_in_single_and_refuses_double) {
  vulkan_has_no_doubles = true;
  Timeline timeline;
  auto backend = VkCase<float>::make({.debug = true}, timeline);
  const Index n = 40;
  auto matrix = on_device(*backend, random_values<float>(n, n, 1)),
       u12 = on_device(*backend, random_values<float>(n, n, 2));
  const auto panel = backend->make_partial_panel(n, n, DeviceUse::always);
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  panel->factorize(whole(*matrix));
  EXPECT_EQ(panel->outcome(pivots), std::nullopt);
  backend->solve_unit_lower(whole(*matrix), whole(*u12));
  backend->update(whole(*matrix), whole(*u12), whole(*u12));
  backend->wait_all();
  EXPECT_EQ(backend->make_matrix_product({}, Precision::single, DeviceUse::always), nullptr);
  EXPECT_THAT([&] { VkCase<double>::make({.debug = true}, timeline); },
              testing::ThrowsMessage<std::runtime_error>(HasSubstr("no double precision: use --precision single")));
  vulkan_has_no_doubles = false;
}

}  // namespace
}  // namespace glinpack::test
