// The parts of the solvers that need no device: packings, stages, least squares, the choices that --tune stores.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "openblas/host_solvers.hpp"
#include "solvers/device/device.hpp"
#include "solvers/device/packing.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::solvers {
namespace {

using testing::ElementsAre;

std::vector<float> packed(Packing packing, Index width, Index height) {
  //  1 2 3
  //  4 5 6
  //  7 8 9
  const std::vector<float> matrix{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> texels(static_cast<std::size_t>(width * height * channels(packing)), -1.0F);
  pack({matrix.data(), 3, 3, 3}, packing, width, height, texels.data());
  std::vector<float> back(9);
  unpack(texels.data(), packing, width, {back.data(), 3, 3, 3});
  EXPECT_EQ(back, matrix);
  return texels;
}

TEST(Packing, PlacesElementsInTheirChannelsAndPadsWithZeros) {
  EXPECT_THAT(packed(Packing::p1x1, 3, 3), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(packed(Packing::p4x1, 3, 1), ElementsAre(1, 4, 7, 0, 2, 5, 8, 0, 3, 6, 9, 0));
  EXPECT_THAT(packed(Packing::p1x4, 1, 3), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0));
  EXPECT_THAT(packed(Packing::p2x2, 2, 2), ElementsAre(1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0));
}

TEST(Packing, WholeTexelsBeyondTheMatrixAreZeros) {
  EXPECT_THAT(packed(Packing::p1x1, 4, 4), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 0, 0, 0, 0));
}

TEST(Stages, MeasurementsOfAStageAreSummed) {
  StageClock clock;
  clock.measure(Stage::pack, [] { usleep(2000); });
  clock.measure(Stage::pack, [] { usleep(2000); });
  clock.measure(Stage::compute, [] {});
  const StageTimes times = clock.times();
  EXPECT_GE(times.of(Stage::pack), 0.004);
  EXPECT_EQ(times.of(Stage::upload), 0);
  EXPECT_EQ(times.with_all(), times.of(Stage::pack) + times.compute());
  clock.clear();
  EXPECT_EQ(clock.times().with_all(), 0);
}

TEST(LeastSquares, FindsTheNearestSolution) {
  // through (0, 1), (1, 3), (2, 4): y = 7/6 + 3/2 x
  const std::vector<double> a{1, 0, 1, 1, 1, 2}, b{1, 3, 4};
  const std::vector<double> x = least_squares({a.data(), 3, 2, 2}, b);
  ASSERT_EQ(x.size(), 2U);
  EXPECT_NEAR(x[0], 7.0 / 6, 1e-14);
  EXPECT_NEAR(x[1], 1.5, 1e-14);
}

TEST(MultiplyOnHost, RejectsExtentsThatDoNotMatch) {
  std::vector<float> values(12);
  EXPECT_THROW(multiply_on_host<float>({values.data(), 2, 3, 3}, {values.data(), 2, 3, 3}, {values.data(), 2, 3, 3}),
               std::invalid_argument);
}

class MatmulChoicesTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  MatmulChoices choices() const { return MatmulChoices(folder_.string()); }
  DeviceDescription device_;

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("glinpack_choices_" + std::to_string(getpid()));
};

constexpr ProductExtents small{10, 10, 10}, large{1000, 1000, 1000};

TEST_F(MatmulChoicesTest, UsesTheChoiceOfTheNearestSize) {
  EXPECT_FALSE(choices().load(device_, Precision::single, small));
  ASSERT_TRUE(choices().store(device_, Precision::single, small,
                              {.variant = MatmulVariant::multi_pass, .packing = Packing::p1x4, .pass_length = 8}));
  ASSERT_TRUE(choices().store(device_, Precision::single, large, {.variant = MatmulVariant::single_pass}));
  const MatmulSettings near_small = choices().load(device_, Precision::single, {20, 5, 30}).value();
  EXPECT_EQ(near_small.variant, MatmulVariant::multi_pass);
  EXPECT_EQ(near_small.packing, Packing::p1x4);
  EXPECT_EQ(near_small.pass_length, 8);
  EXPECT_EQ(choices().load(device_, Precision::single, {5000, 5000, 5000})->variant, MatmulVariant::single_pass);
}

TEST_F(MatmulChoicesTest, AChoiceIsPerDeviceAndPrecisionAndMayBeReplaced) {
  ASSERT_TRUE(choices().store(device_, Precision::single, small, {.variant = MatmulVariant::single_pass}));
  ASSERT_TRUE(choices().store(device_, Precision::single, small, {.variant = MatmulVariant::compute}));
  EXPECT_EQ(choices().load(device_, Precision::single, small)->variant, MatmulVariant::compute);
  EXPECT_FALSE(choices().load(device_, Precision::double_, small));
  device_.version = "2";
  EXPECT_FALSE(choices().load(device_, Precision::single, small));
}

TEST_F(MatmulChoicesTest, SkipsInvalidLinesOfAFile) {
  ASSERT_TRUE(choices().store(device_, Precision::single, small, {.variant = MatmulVariant::compute}));
  std::ofstream(choices().path_of(device_, Precision::single))
      << "10 10 10 sideways 2x2 1\n10 10 10 multi-pass 9x9 1\n10 0 10 multi-pass 2x2 1\n10 10 10 multi-pass 2x2 "
         "0\nhello\n"
         "7 7 7 single-pass 4x1 1\n";
  EXPECT_EQ(choices().load(device_, Precision::single, small)->packing, Packing::p4x1);
  EXPECT_FALSE(MatmulChoices("").load(device_, Precision::single, small));
  EXPECT_FALSE(MatmulChoices("").store(device_, Precision::single, small, {}));
}

}  // namespace
}  // namespace glinpack::solvers
