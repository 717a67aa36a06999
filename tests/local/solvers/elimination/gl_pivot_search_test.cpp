// Compares the reduction that finds a step's pivot with a loop.
#include "solvers/elimination/elimination.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack::solvers {
namespace {

using test::Values;
using test::view;

/// Brodtkorb 2008, (3) and (4), of the block at texel (row, column).
double norm_of(const Values<float>& a, Index row, Index column, PivotMeasure measure) {
  const double r = a(2 * row, 2 * column), g = a(2 * row, 2 * column + 1), b = a(2 * row + 1, 2 * column),
               alpha = a(2 * row + 1, 2 * column + 1), q11 = r, q22 = alpha - b / r * g;
  return measure == PivotMeasure::as_signed ? std::abs(q11 * q22 / (q11 + q22))
                                            : std::abs(q11) * std::abs(q22) / (std::abs(q11) + std::abs(q22));
}

class GlPivotSearch : public testing::Test {
 protected:
  BlockPivot find(Values<float> a, Index step, const EliminationSettings& settings) {
    const Index block = block_size(settings.variant);
    TextureMatrix matrix(device_, a.rows, a.columns, packing_of(settings.variant));
    matrix.upload(view(a));
    return PivotSearch(device_, a.rows / block, settings).find(matrix, step, 0);
  }

  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlPivotSearch, TheLargestMeasureIsFoundInOnePassOrSeveral) {
  constexpr Index side = 40;
  const Values<float> a = test::random_values<float>(2 * side, 2 * side, 3);
  for (const PivotMeasure measure : {PivotMeasure::magnitudes, PivotMeasure::as_signed}) {
    for (const Index step : {0, 7, 30, 39}) {
      for (const EliminationPivoting pivoting : {EliminationPivoting::partial, EliminationPivoting::full}) {
        BlockPivot expected;
        double largest = 0;
        const Index columns = pivoting == EliminationPivoting::full ? side : step + 1;
        for (Index row = step; row < side; ++row) {
          for (Index column = step; column < columns; ++column) {
            const double norm = norm_of(a, row, column, measure);
            if (norm > largest) largest = norm, expected = {row, column, norm};
          }
        }
        for (const EliminationVariant variant : {EliminationVariant::double_rows, EliminationVariant::compute}) {
          const BlockPivot found = find(a, step, {variant, pivoting, measure});
          EXPECT_EQ(found.row, expected.row);
          EXPECT_EQ(found.column, expected.column);
        }
      }
    }
  }
}

TEST_F(GlPivotSearch, TiesGoToTheLargestCoordinate) {
  Values<float> a(80, 80);
  for (Index i = 0; i < 80; ++i) {
    for (Index j = 0; j < 80; ++j) a(i, j) = (i + j) % 2 == 0 ? 2.0F : 1.0F;
  }
  for (Index j = 0; j < 80; ++j) a(79, j) = a(78, j) = 0.5F;  // the last block row is no candidate, nor the last row
  for (const EliminationVariant variant : all_elimination_variants) {
    const Index side = 80 / block_size(variant);
    const BlockPivot partial = find(a, 3, {variant, EliminationPivoting::partial});
    const BlockPivot full = find(a, 3, {variant, EliminationPivoting::full});
    const bool plain = variant == EliminationVariant::plain;
    EXPECT_EQ(partial.row, plain ? 77 : side - 2) << name_of(variant);
    EXPECT_EQ(partial.column, 3);
    EXPECT_EQ(full.row, plain ? 77 : side - 2) << name_of(variant);
    EXPECT_EQ(full.column, side - 1);
  }
}

TEST_F(GlPivotSearch, NanIsNeverAPivot) {
  Values<float> a = test::identity(6);
  a(0, 0) = std::numeric_limits<float>::quiet_NaN();
  a(2, 0) = 0.25F, a(3, 1) = 0.25F;
  a(4, 0) = std::numeric_limits<float>::infinity();
  for (const EliminationVariant variant : all_elimination_variants) {
    const BlockPivot found = find(a, 0, {variant});
    EXPECT_EQ(found.row, variant == EliminationVariant::plain ? 2 : 1) << name_of(variant);
  }
}

}  // namespace
}  // namespace glinpack::solvers
