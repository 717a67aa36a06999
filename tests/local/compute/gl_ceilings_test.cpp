#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "compute/ceilings.hpp"
#include "device/shader_source.hpp"
#include "gl/gl_compute.hpp"

namespace glinpack::compute {
namespace {

using testing::HasSubstr;

constexpr MeasuringOptions brief_measurement{.repeat = 2, .seconds = 2e-3};

void expect_measured(const Measured& measured) {
  EXPECT_EQ(measured.repetitions, 2);
  EXPECT_GT(measured.least, 0);
  EXPECT_LE(measured.least, measured.median);
  EXPECT_LE(measured.median, measured.most);
}

std::string failure_of(int device, const std::string& shader_directory = {}) {
  try {
    measure_device_ceilings(gl::open_device(device), ShaderSource(shader_directory), brief_measurement);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "measured";
}

/// A folder with one modified shader.
class ChangedShader {
 public:
  ChangedShader(const std::string& name, const std::string& from, const std::string& to) {
    std::string pattern = (std::filesystem::temp_directory_path() / "glinpack-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    std::filesystem::create_directories(folder_ / "compute");
    for (const EmbeddedShader& shader : embedded_shaders()) {
      if (shader.name != name) continue;
      std::string text(shader.text);
      const std::size_t at = text.find(from);
      if (at == std::string::npos) throw std::logic_error(name + " has no " + from);
      std::ofstream(folder_ / name) << text.replace(at, from.size(), to);
    }
  }
  ChangedShader(const ChangedShader&) = delete;
  ChangedShader& operator=(const ChangedShader&) = delete;
  ~ChangedShader() { std::filesystem::remove_all(folder_); }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

TEST(GlCeilings, AreMeasuredOnTheNamedDevice) {
  const DeviceCeilings ceilings = measure_device_ceilings(gl::open_device(0), ShaderSource(), brief_measurement);
  EXPECT_EQ(ceilings.device.index, 0);
  EXPECT_FALSE(ceilings.device.renderer.empty());
  for (const CopyCeiling& copy : {ceilings.copy, ceilings.upload, ceilings.download}) {
    expect_measured(copy.rate);
    EXPECT_GT(copy.bytes, 0);
  }
  expect_measured(ceilings.fma_single);
  expect_measured(ceilings.fma_double);
  expect_measured(ceilings.dispatch);
  expect_measured(ceilings.read_back);
}

TEST(GlCeilings, AreRejectedIfMultiplyAddsAreMissing) {
  const ChangedShader changed("compute/fma_rate.comp", "turn < turns", "turn < turns - 1");
  EXPECT_THAT(failure_of(0, changed.folder()), HasSubstr("multiply-adds in single precision do not add up"));
}

TEST(GlCeilings, AreRejectedIfAnElementIsNotCopied) {
  const ChangedShader changed("compute/vector_copy.comp", "to[AT(7)] = h;", "");
  EXPECT_THAT(failure_of(0, changed.folder()), HasSubstr("copied wrongly"));
}

TEST(GlCeilings, ReportAnUnknownDevice) { EXPECT_THAT(failure_of(99), HasSubstr("no EGL device 99")); }

TEST(GlCeilings, CopyAtMostAStorageBlockAndAnEighthOfTheMemory) {
  DeviceDescription device;
  device.storage_block = (std::int64_t{1} << 31) - 1;
  device.free_memory = std::int64_t{100} << 30;
  EXPECT_EQ(copy_bytes(device), std::int64_t{1} << 30);
  device.free_memory = std::int64_t{1} << 30;
  EXPECT_EQ(copy_bytes(device), std::int64_t{128} << 20);
  device.storage_block = std::int64_t{64} << 20;
  EXPECT_EQ(copy_bytes(device), std::int64_t{64} << 20);
  device.software = true;
  EXPECT_EQ(copy_bytes(device), std::int64_t{32} << 20);
}

TEST(GlCeilings, ReportTooLittleMemory) {
  DeviceDescription device;
  device.renderer = "Some GPU";
  device.free_memory = std::int64_t{7} << 20;
  try {
    copy_bytes(device);
    FAIL() << "7 MiB were enough";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Some GPU has too little memory left to measure with: 7 MiB"));
  }
}

}  // namespace
}  // namespace glinpack::compute
