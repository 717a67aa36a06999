#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack {
namespace {

constexpr std::uint64_t seed = 100;

/// The rows of [A | b] that a rank of the grid holds.
std::vector<double> part_of(const MatrixSource& source, const Distribution& distribution, GridPosition at) {
  const Index rows = distribution.local_rows(at);
  const Index columns = distribution.local_columns(at);
  std::vector<double> part(static_cast<std::size_t>(rows * columns));
  source.fill(distribution, at, LocalIndex(0), {part.data(), rows, columns, columns});
  return part;
}

/// The whole n x (n+1) matrix [A | b].
class Whole {
 public:
  Whole(MatrixKind kind, Index n, std::uint64_t with_seed = seed)
      : n_(n),
        elements_(part_of(*make_source(kind, n, with_seed), Distribution(n, std::max<Index>(1, n), {1, 1}), {})) {}

  double operator()(Index i, Index j) const { return elements_[static_cast<std::size_t>(i * (n_ + 1) + j)]; }
  const std::vector<double>& elements() const { return elements_; }

 private:
  Index n_;
  std::vector<double> elements_;
};

// L and U of the elimination without pivoting are those of the formula, and no multiplier reaches 1.
TEST(Mxp, is_a_product_of_triangles_that_needs_no_pivoting_and_is_not_symmetric) {
  for (const Index n : {1, 2, 5, 40}) {
    const Whole whole(MatrixKind::mxp, n);
    const double alpha = 4 / static_cast<double>(n + 4), beta = 2 / static_cast<double>(n + 4);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        double element = 0;
        for (Index k = 0; k <= std::min(i, j); ++k) element += (k == i ? 1 : -alpha) * (k == j ? 1 : -beta);
        EXPECT_NEAR(whole(i, j), element, 40 * std::numeric_limits<double>::epsilon()) << n << ' ' << i << ' ' << j;
      }
    }
    EXPECT_LT(alpha, 1);
    if (n > 1) {
      EXPECT_NE(whole(0, 1), whole(1, 0));
    }
  }
}

// The first numbers that the authors' program prints for seed 1234567.
TEST(SplitMix64, MatchesTheNumbersOfItsAuthors) {
  EXPECT_EQ(splitmix64(1234567, 0), 6457827717110365317U);
  EXPECT_EQ(splitmix64(1234567, 1), 3203168211198807973U);
  EXPECT_EQ(splitmix64(1234567, 2), 9817491932198370423U);
  EXPECT_EQ(splitmix64(1234567, 3), 4593380528125082431U);
  EXPECT_EQ(splitmix64(1234567, 4), 16408922859458223821U);
}

class EveryKind : public testing::TestWithParam<MatrixKind> {};

TEST_P(EveryKind, DoesNotDependOnGridOrBlockSize) {
  for (const Index n : {1, 2, 23, 40}) {
    const Whole whole(GetParam(), n);
    const auto source = make_source(GetParam(), n, seed);
    for (const GridShape grid : {GridShape{1, 1}, GridShape{2, 3}, GridShape{4, 1}, GridShape{1, 5}}) {
      for (const Index nb : {1, 4, 7, 50}) {
        const Distribution distribution(n, nb, grid);
        for (int p = 0; p < grid.rows; ++p) {
          for (int q = 0; q < grid.columns; ++q) {
            const std::vector<double> part = part_of(*source, distribution, {p, q});
            const Index columns = distribution.local_columns({p, q});
            for (Index i = 0; i < distribution.local_rows({p, q}); ++i) {
              for (Index j = 0; j < columns; ++j) {
                ASSERT_EQ(part[static_cast<std::size_t>(i * columns + j)],
                          whole(distribution.rows.global(LocalIndex(i), p).value,
                                distribution.columns.global(LocalIndex(j), q).value));
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryKind, FillsAnySubsetOfRows) {
  const Index n = 23;
  const Whole whole(GetParam(), n);
  const Distribution distribution(n, 4, {2, 1});
  std::vector<double> row(static_cast<std::size_t>(n + 1));
  make_source(GetParam(), n, seed)->fill(distribution, {1, 0}, LocalIndex(6), {row.data(), 1, n + 1, n + 1});
  for (Index j = 0; j <= n; ++j) EXPECT_EQ(row[static_cast<std::size_t>(j)], whole(14, j));
}

TEST_P(EveryKind, HasFiniteElementsAndARightHandSideFromTheSeed) {
  for (const Index n : {1, 30, 31, 32, 200}) {
    const Whole whole(GetParam(), n);
    for (const double value : whole.elements()) ASSERT_TRUE(std::isfinite(value));
    const Whole other(GetParam(), n, seed + 1);
    for (Index i = 0; i < n; ++i) EXPECT_NE(whole(i, n), other(i, n));
  }
}

INSTANTIATE_TEST_SUITE_P(Formulas, EveryKind, testing::ValuesIn(matrix_formulas),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(MatrixKinds, AFileIsNoFormula) { EXPECT_THROW(make_source(MatrixKind::file, 3, seed), std::invalid_argument); }

TEST(Hpl, EqualsTheHplGenerator) {
  const Whole whole(MatrixKind::hpl, 5, 7);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(whole(i, j), hpl_element(5, i, j, 7));
  }
}

TEST(Uniform, TakesElementsRowByRowFromSplitMix64) {
  const Whole whole(MatrixKind::uniform, 2, 1234567);
  const std::uint64_t numbers[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                   4593380528125082431U, 16408922859458223821U};
  for (Index k = 0; k < 5; ++k) {
    EXPECT_NEAR(whole(k / 3, k % 3), std::ldexp(static_cast<double>(numbers[k]), -63) - 1, 1e-15) << k;
  }
}

TEST(Uniform, IsUniformOnItsInterval) {
  const Index n = 300;
  const Whole whole(MatrixKind::uniform, n);
  double sum = 0;
  double squares = 0;
  int below_half = 0;
  for (const double value : whole.elements()) {
    ASSERT_GE(value, -1.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
    below_half += value < -0.5 ? 1 : 0;
  }
  const auto count = static_cast<double>(whole.elements().size());
  // five standard deviations of each mean
  EXPECT_NEAR(sum / count, 0.0, 5 * std::sqrt(1.0 / 3 / count));
  EXPECT_NEAR(squares / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / count));
  EXPECT_NEAR(below_half / count, 0.25, 5 * std::sqrt(3.0 / 16 / count));
}

TEST(Hilbert, IsTheHilbertMatrixWithAShiftedDiagonal) {
  const Index n = 40;
  const Whole whole(MatrixKind::hilbert, n);
  EXPECT_EQ(whole(0, 0), 1 + 0x1p-10);
  EXPECT_EQ(whole(0, 1), 0.5);
  EXPECT_EQ(whole(1, 1), 1.0 / 3 + 0x1p-10);
  EXPECT_EQ(whole(39, 2), 1.0 / 42);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) EXPECT_EQ(whole(i, j), whole(j, i));
  }
}

TEST(Wilkinson, IsTheWilkinsonMatrixUpToOrder31) {
  for (const Index n : {1, 2, 31}) {
    const Whole whole(MatrixKind::wilkinson, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(whole(i, j), i == j || j == n - 1 ? 1.0 : i > j ? -1.0 : 0.0) << i << "," << j << " of " << n;
      }
    }
  }
}

// The last column of U: u_i = 1 - sum of l_ij u_j, without interchanges.
TEST(Wilkinson, HasTheDocumentedGrowth) {
  for (const Index n : {2, 20, 31, 32, 100, 1000}) {
    const Whole whole(MatrixKind::wilkinson, n);
    std::vector<double> u;
    for (Index i = 0; i < n; ++i) {
      double value = 1;
      for (Index j = 0; j < i; ++j) value -= whole(i, j) * u[static_cast<std::size_t>(j)];
      u.push_back(value);
      if (i < n - 1) {
        EXPECT_LE(std::fabs(whole(n - 1, i)), whole(i, i));
      }
    }
    const double expected = std::exp2(static_cast<double>(std::min<Index>(n - 1, 30)));
    EXPECT_NEAR(u.back() / expected, 1.0, 1e-10 * static_cast<double>(n)) << n;
  }
}

TEST(Dominant, IsStrictlyDominantByRowsAndColumns) {
  for (const Index n : {1, 2, 50}) {
    const Whole whole(MatrixKind::dominant, n);
    for (Index i = 0; i < n; ++i) {
      double row = 0;
      double column = 0;
      for (Index j = 0; j < n; ++j) {
        if (j == i) continue;
        row += std::fabs(whole(i, j));
        column += std::fabs(whole(j, i));
      }
      EXPECT_EQ(whole(i, i), static_cast<double>(n));
      EXPECT_LT(row, whole(i, i));
      EXPECT_LT(column, whole(i, i));
    }
  }
}

TEST(Normal, HasMeanZeroAndDeviationOne) {
  const Index n = 300;
  const Whole whole(MatrixKind::normal, n);
  double sum = 0, squares = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      sum += whole(i, j);
      squares += whole(i, j) * whole(i, j);
    }
  }
  const auto count = static_cast<double>(n * n);
  // five standard deviations of each mean
  EXPECT_NEAR(sum / count, 0.0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1.0, 5 * std::sqrt(2 / count));
}

// The last column of the inverse, by backward substitution.
TEST(Kahan, IsUpperTriangularAndIllConditionedWithoutASmallPivot) {
  for (const Index n : {2, 30, 100, 1000}) {
    const Whole whole(MatrixKind::kahan, n);
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index i = n - 1; i >= 0; --i) {
      double value = i == n - 1 ? 1 : 0;
      for (Index j = i + 1; j < n; ++j) value -= whole(i, j) * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] = value / whole(i, i);
      for (Index j = 0; j < i; ++j) EXPECT_EQ(whole(i, j), 0);
      EXPECT_GT(whole(i, i), n < 100 ? 0.1 : 0.09) << n;
    }
    if (n < 100) continue;
    EXPECT_GT(x.front(), 0x1p30 * whole(0, 0) * std::fabs(whole(0, 1)) / 2) << n;
    EXPECT_LT(x.front(), 0x1p30) << n;
  }
}

TEST(Graded, DecreasesByRowsAndColumns) {
  const Index n = 41;
  const Whole graded(MatrixKind::graded, n), uniform(MatrixKind::uniform, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      EXPECT_NEAR(graded(i, j) / uniform(i, j), std::exp2(-0.5 * static_cast<double>(i + j)), 1e-15);
    }
    EXPECT_EQ(graded(i, n), uniform(i, n));
  }
}

TEST(Orthogonal, HasOrthonormalRows) {
  for (const Index n : {1, 2, 31}) {
    const Whole whole(MatrixKind::orthogonal, n);
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k <= i; ++k) {
        double product = 0;
        for (Index j = 0; j < n; ++j) product += whole(i, j) * whole(k, j);
        EXPECT_NEAR(product, i == k ? 1 : 0, 1e-14) << n;
      }
    }
  }
}

TEST(Singular, HasOneZeroColumn) {
  for (const Index n : {1, 2, 9}) {
    const Whole singular(MatrixKind::singular, n), uniform(MatrixKind::uniform, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= n; ++j) EXPECT_EQ(singular(i, j), j == n / 2 && j < n ? 0 : uniform(i, j));
    }
  }
}

}  // namespace
}  // namespace glinpack
