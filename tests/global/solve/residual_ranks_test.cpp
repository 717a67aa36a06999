// The check of a solution refuses an x with a wrong element, however large it makes the norms.

#include <cmath>
#include <limits>
#include <vector>

#include "mpi/scatter_matrix.hpp"
#include "solve/residual.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

constexpr Index n = 24, nb = 5;

// The residual of A x = A 1 with x = 1, but for one element. `column_scale`: of column 3 of A.
Residual residual_with(const ProcessGrid& grid, double wrong_element, double a_scale, double column_scale) {
  const Distribution distribution(n, nb, grid.shape());
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      a[static_cast<std::size_t>(i * n + j)] =
          a_scale * (j == 3 ? column_scale : 1) * (i == j ? 2 : static_cast<double>((i * j) % 3 - 1) / 16);
    }
  }
  const auto source = scatter_matrix(grid, distribution, grid.is_root() ? &a : nullptr);
  Timeline timeline;
  const auto matrix =
      original_matrix_on_host({distribution, grid.position(), *source, Precision::double_}, 1, timeline);
  std::vector<double> x(static_cast<std::size_t>(distribution.local_columns_of_a(grid.position())), 1.0);
  if (distribution.columns.owner(GlobalIndex(3)) == grid.position().column) {
    x[static_cast<std::size_t>(distribution.columns.local(GlobalIndex(3)).value)] = wrong_element;
  }
  return compute_residual(*matrix, distribution, grid, Precision::double_, x);
}

TEST(Residual, OfARightSolutionIsSmallForLargeAndSmallMatrices) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const double scale : {1.0, 0x1p-1000, 0x1p+1000}) {
      const Residual residual = residual_with(grid, 1, scale, 1);
      EXPECT_LT(residual.scaled, 1) << scale;
      EXPECT_LT(residual.columnwise, 1) << scale;
    }
  });
}

// Bit 62 of an element between 0.5 and 1: ||A|| ||x|| exceeds the largest double.
TEST(Residual, OfAFlippedExponentIsLargeAlthoughTheNormsOverflow) {
  on_every_grid([](const ProcessGrid& grid) {
    const Residual residual = residual_with(grid, std::ldexp(0.75, 1024), 1, 1);
    ASSERT_TRUE(std::isinf(residual.norm_a_inf * residual.norm_x_inf));
    EXPECT_GT(residual.scaled, 1e12);
    EXPECT_GT(residual.columnwise, 1e12);
  });
}

// A column of small elements: HPL's quotient has the norm of the others.
TEST(Residual, OfAWrongElementIsLargeInASmallColumn) {
  on_every_grid([](const ProcessGrid& grid) {
    const Residual residual = residual_with(grid, 1e12, 1, 1e-16);
    EXPECT_LT(residual.scaled, 1);
    EXPECT_GT(residual.columnwise, 1e3);
  });
}

TEST(Residual, OfNumbersThatAreNotFiniteIsInfinite) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const double element : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const Residual residual = residual_with(grid, element, 1, 1);
      EXPECT_TRUE(std::isinf(residual.scaled));
      EXPECT_TRUE(std::isinf(residual.columnwise));
    }
  });
}

}  // namespace
}  // namespace glinpack
