// Compares products on a device, in every variant and packing, with OpenBLAS.

#include <algorithm>
#include <array>

#include "openblas/host_solvers.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/matmul/matmul.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

using test::Values;
using test::view;

class GlMatmul : public testing::Test {
 protected:
  template <class Real>
  void expect_product(const ProductExtents& e, const MatmulSettings& settings) {
    SCOPED_TRACE(std::string(name_of(settings.variant)) + " " + std::string(name_of(settings.packing)) + " " +
                 std::to_string(e.rows) + "x" + std::to_string(e.depth) + "x" + std::to_string(e.columns));
    Values<Real> a = test::random_values<Real>(e.rows, e.depth, 1),
                 b = test::random_values<Real>(e.depth, e.columns, 2);
    Values<Real> expected(e.rows, e.columns), computed(e.rows, e.columns);
    multiply_on_host<Real>(view(a), view(b), view(expected));
    const Product<Real> product{view(a), view(b), view(computed)};
    const Steps steps = make_product(device_, product, settings);
    steps.load();
    for (int round = 0; round < 2; ++round) {  // the second product must not depend on the first
      steps.compute();
      steps.store();
      // A and B are below 0.5
      const double bound = settings.variant == MatmulVariant::larsen_mcallister_bytes
                               ? byte_error_bound(e, settings.packing) / 4
                               : tolerance<Real>(e.depth);
      EXPECT_LE(largest_difference(computed, expected), bound);
    }
  }

  Device device_{test::any_gl_device(), {}, true};
};

constexpr ProductExtents extents[] = {{1, 1, 1}, {5, 7, 3}, {8, 8, 8}, {33, 21, 18}, {2, 65, 31}};

TEST_F(GlMatmul, EveryRasterVariantMultipliesInEveryPacking) {
  for (const MatmulVariant variant : all_matmul_variants) {
    for (const Packing packing : all_packings) {
      if (!draws(variant)) continue;
      for (const ProductExtents& e : extents) expect_product<float>(e, {.variant = variant, .packing = packing});
    }
  }
}

TEST_F(GlMatmul, PassesMayBeOfAnyLength) {
  for (const MatmulVariant variant : {MatmulVariant::multi_pass, MatmulVariant::multi_pass_two_buffers}) {
    for (const Index length : {2, 3, 1000}) {
      expect_product<float>({9, 23, 6}, {.variant = variant, .packing = Packing::p2x2, .pass_length = length});
    }
  }
}

TEST_F(GlMatmul, SmallRectanglesCoverTheProduct) {
  for (const Index side : {1, 3, 64}) {
    expect_product<float>({9, 23, 21}, {.variant = MatmulVariant::many_quads, .quad_side = side});
  }
}

TEST_F(GlMatmul, TexturesOfBytesRoundAndSaturate) {
  TextureMatrix bytes(device_, 1, 5, Packing::p1x1, TexelFormat::bytes);
  Values<float> values(1, 5), read(1, 5);
  std::ranges::copy(std::array{-1.0F, 0.1F, 0.5F, 1.0F, 10.0F}, values.elements.begin());
  bytes.upload(view(values));
  bytes.download(view(read));
  EXPECT_THAT(read.elements,
              testing::Pointwise(testing::FloatNear(0.5F / 255 + 1e-6F), std::array{0.0F, 0.1F, 0.5F, 1.0F, 1.0F}));
  EXPECT_NE(read(0, 1), 0.1F);
}

TEST_F(GlMatmul, ACubeMayHaveMorePlanesThanOneDrawCall) {
  expect_product<float>({3, 2100, 2}, {.variant = MatmulVariant::larsen_mcallister, .packing = Packing::p1x1});
}

TEST_F(GlMatmul, ComputeShadersMultiplyInBothPrecisions) {
  for (const ProductExtents& e : {extents[0], extents[3]}) {
    expect_product<float>(e, {.variant = MatmulVariant::compute});
    expect_product<double>(e, {.variant = MatmulVariant::compute});
  }
}

TEST_F(GlMatmul, RasterVariantsRejectDoublePrecision) {
  Values<double> a(4, 4);
  EXPECT_THROW(make_product<double>(device_, {view(a), view(a), view(a)}, {.variant = MatmulVariant::single_pass}),
               std::invalid_argument);
}

TEST_F(GlMatmul, StagesAreTimedSeparately) {
  Values<float> a = test::random_values<float>(16, 16, 1), c(16, 16);
  const Product<float> product{view(a), view(a), view(c)};
  const Steps steps = make_product(device_, product, {.variant = MatmulVariant::single_pass});
  device_.clock().clear();
  steps.run();
  const StageTimes times = device_.clock().times();
  for (const Stage stage : all_stages) EXPECT_GT(times.of(stage), 0) << name_of(stage);
  EXPECT_LT(times.compute(), times.with_transfer());
  EXPECT_LT(times.with_transfer(), times.with_all());
}

TEST_F(GlMatmul, RejectsATooLargeTextureNamesTheLimitAndLeavesNoGlObjects) {
  const Index side = device_.description().texture_side;
  const MatmulSettings settings{.variant = MatmulVariant::multi_pass, .packing = Packing::p4x1};
  const int before = test::count_gl_objects(*device_.context());
  for (const ProductExtents& e : {ProductExtents{2, 3, side + 1}, ProductExtents{4 * side + 1, 3, 2}}) {
    EXPECT_THAT(matmul_obstacle(device_.description(), e, settings, Precision::single),
                testing::HasSubstr(std::to_string(side)));
    Values<float> a(e.rows, e.depth), b(e.depth, e.columns), c(e.rows, e.columns);
    EXPECT_THROW(make_product<float>(device_, {view(a), view(b), view(c)}, settings), std::runtime_error);
  }
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

TEST_F(GlMatmul, ProductsLeaveNoGlObjectsNorDoFailedOnes) {
  device_.staging(1 << 12);
  const int before = test::count_gl_objects(*device_.context());
  for (const MatmulVariant variant : all_matmul_variants) {
    const MatmulSettings settings{.variant = variant};
    expect_product<float>({9, 8, 7}, settings);
    Values<float> tall(5, 4), wide(4, 5), right(4, 4);
    const Product<float> product{view(right), view(right), view(right)};
    const Steps steps = make_product(device_, product, settings);
    EXPECT_GT(test::count_gl_objects(*device_.context()), before) << name_of(variant);
    for (const Product<float>& wrong : {Product<float>{view(tall), view(right), view(right)},
                                        {view(right), view(wide), view(right)},
                                        {view(right), view(right), view(wide)}}) {
      EXPECT_THROW(make_product(device_, wrong, settings), std::invalid_argument);
    }
  }
  EXPECT_THROW(device_.fragment_program("solvers/matmul.frag", "#define PACKING nonsense\n"), std::runtime_error);
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

// Brodtkorb 2006, section 2.4: reads of a packing. Four terms take four texels of 2x2, but five of 4x1.
TEST(MatmulFetches, PackingDecidesTexelsOfAnElement) {
  const ProductExtents extents{8, 16, 8};
  const auto of_element = [&](MatmulVariant variant, Packing packing, Index length = 1) {
    return texels_fetched(extents, {.variant = variant, .packing = packing, .pass_length = length}) / 64;
  };
  EXPECT_EQ(of_element(MatmulVariant::single_pass, Packing::p1x1), 2 * 16);
  EXPECT_EQ(of_element(MatmulVariant::single_pass, Packing::p2x2), 2 * 8 / 4.0);
  EXPECT_EQ(of_element(MatmulVariant::single_pass, Packing::p4x1), 5 * 4 / 4.0);
  EXPECT_EQ(of_element(MatmulVariant::multi_pass, Packing::p2x2, 4), (2 * 8 + 2) / 4.0);
  EXPECT_EQ(of_element(MatmulVariant::compute, Packing::p2x2), 0);
}

}  // namespace
}  // namespace glinpack::solvers
