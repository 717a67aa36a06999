#include "compute/ceilings.hpp"

#include <stdexcept>
#include <string>

#include "device/shader_source.hpp"
#include "tests/local/changed_shader.hpp"
#include "tests/local/compute_cases.hpp"

namespace glinpack::compute {
namespace {

using testing::HasSubstr;

constexpr MeasuringOptions brief_measurement{.repeat = 2, .seconds = 2e-3};

void expect_measured(const Measured& measured) {
  EXPECT_EQ(measured.repetitions, 2);
  EXPECT_GT(measured.min, 0);
  EXPECT_LE(measured.min, measured.median);
  EXPECT_LE(measured.median, measured.max);
}

template <class Case>
class Ceilings : public testing::Test {
 protected:
  static DeviceCeilings measured(int device, const std::string& shader_folder = {}) {
    return measure_device_ceilings(Case::open({.device = device}), ShaderSource(shader_folder), brief_measurement);
  }
  static std::string failure_of(int device, const std::string& shader_folder = {}) {
    try {
      measured(device, shader_folder);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "measured";
  }
};
TYPED_TEST_SUITE(Ceilings, test::ApiCases, test::ComputeCaseNames);

TYPED_TEST(Ceilings, AreMeasuredOnTheNamedDevice) {
  const DeviceCeilings ceilings = this->measured(0);
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

TYPED_TEST(Ceilings, AreRejectedIfMultiplyAddsAreMissing) {
  const test::ChangedShader changed("compute/fma_rate.comp", "turn < turns", "turn < turns - 1");
  EXPECT_THAT(this->failure_of(0, changed.folder()), HasSubstr("multiply-adds in single precision do not add up"));
}

TYPED_TEST(Ceilings, AreRejectedIfAnElementIsNotCopied) {
  const test::ChangedShader changed("compute/vector_copy.comp", "to[AT(7)] = h;", "");
  EXPECT_THAT(this->failure_of(0, changed.folder()), HasSubstr("copied wrongly"));
}

TYPED_TEST(Ceilings, ReportAnUnknownDevice) {
  EXPECT_THAT(this->failure_of(99), HasSubstr("no " + std::string(TypeParam::record.devices->noun) + " 99"));
}

TEST(CeilingsMemory, CopyAtMostAStorageBlockAndAnEighthOfTheMemory) {
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

TEST(CeilingsMemory, ReportTooLittleMemory) {
  DeviceDescription device;
  device.renderer = "Some GPU";
  device.free_memory = std::int64_t{7} << 20;
  EXPECT_THAT([&] { copy_bytes(device); }, testing::ThrowsMessage<std::runtime_error>(HasSubstr(
                                               "Some GPU has too little memory left to measure with: 7 MiB")));
}

}  // namespace
}  // namespace glinpack::compute
