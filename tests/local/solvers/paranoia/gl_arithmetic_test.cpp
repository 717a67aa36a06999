// Single arithmetic operations on a device, checked as `glinpack-papers paranoia` checks them.

#include "solvers/paranoia/device_arithmetic.hpp"
#include "solvers/paranoia/errors.hpp"
#include "solvers/paranoia/operations.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

using arithmetic::OperandSet;
using arithmetic::Operation;
using arithmetic::OperationErrors;

class GlArithmetic : public testing::Test {
 protected:
  template <class Real>
  void expect_glsl_precision(ShaderKind kind) {
    DeviceArithmetic<Real> on_device(device_, kind);
    for (const Operation operation : arithmetic::all_operations) {
      SCOPED_TRACE(std::string(name_of(operation)));
      const OperandSet<Real> set = arithmetic::random_operands<Real>(operation, 3000, 11);
      std::vector<Real> results(set.a.size());
      on_device.compute(operation, set, results);
      const OperationErrors errors = arithmetic::errors_of<Real>(operation, set, results);
      EXPECT_GT(errors.ordinary, 1000);
      EXPECT_TRUE(errors.passed()) << errors.outside << " outside, " << errors.neither << " neither";
    }
  }

  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlArithmetic, ComputeShadersMeetTheGlslRequirementsInSinglePrecision) {
  expect_glsl_precision<float>(ShaderKind::compute);
}
TEST_F(GlArithmetic, ComputeShadersMeetTheGlslRequirementsInDoublePrecision) {
  expect_glsl_precision<double>(ShaderKind::compute);
}
TEST_F(GlArithmetic, FragmentShadersMeetTheGlslRequirements) { expect_glsl_precision<float>(ShaderKind::fragment); }

TEST_F(GlArithmetic, NumbersSentInSeveralPiecesAreReadBackUnchanged) {
  constexpr Index count = 512 * 512 + 3;
  OperandSet<float> set;
  for (Index i = 0; i < count; ++i) set.add({static_cast<float>(i) - 1000.5F, 1, 0});
  std::vector<float> results(set.a.size());
  for (const ShaderKind kind : {ShaderKind::compute, ShaderKind::fragment}) {
    DeviceArithmetic<float>(device_, kind).carry(set, results);
    EXPECT_EQ(results, set.a);
  }
}

TEST_F(GlArithmetic, RejectsFragmentShadersInDoublePrecisionAndMissingResults) {
  EXPECT_THROW(DeviceArithmetic<double>(device_, ShaderKind::fragment), std::invalid_argument);
  DeviceArithmetic<float> on_device(device_, ShaderKind::compute);
  OperandSet<float> set;
  set.add({1, 1, 0});
  EXPECT_THROW(on_device.compute(Operation::addition, set, {}), std::invalid_argument);
}

TEST_F(GlArithmetic, LeavesNoGlObjects) {
  device_.staging(1 << 20);
  const int before = test::count_gl_objects(*device_.context());
  for (const ShaderKind kind : {ShaderKind::compute, ShaderKind::fragment}) {
    DeviceArithmetic<float> on_device(device_, kind);
    OperandSet<float> set;
    set.add({1, 2, 3});
    std::vector<float> results(1);
    on_device.compute(Operation::fma, set, results);
    EXPECT_EQ(results[0], 5);
  }
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

}  // namespace
}  // namespace glinpack::solvers
