#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"
#include "matrix/spectrum.hpp"
#include "tests/global/tested_kinds.hpp"

namespace glinpack {
namespace {

using test::tested_kinds;

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
    EXPECT_EQ(source->order(), n);
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

TEST_P(EveryKind, HasAUniqueName) {
  const std::vector<MatrixKind> kinds = tested_kinds();
  EXPECT_EQ(std::ranges::count(kinds, GetParam()), 1);
  EXPECT_EQ(MatrixKind::parse(std::string(GetParam().name())), GetParam());
  EXPECT_FALSE(description_of(GetParam()).empty());
}

INSTANTIATE_TEST_SUITE_P(Formulas, EveryKind, testing::ValuesIn(tested_kinds()), [](const auto& info) {
  std::string name(name_of(info.param));
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

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

TEST(Hilbert, ReversedHasTheRowsInReverseOrder) {
  const Index n = 40;
  const Whole whole(MatrixKind::hilbert, n);
  const Whole reversed(MatrixKind::hilbert_reversed, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) EXPECT_EQ(reversed(i, j), whole(n - 1 - i, j));
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

/// A v_k for the vectors v_k of the sine transform, which are orthonormal: row k.
std::vector<std::vector<double>> images_of_sines(const Whole& a, Index n) {
  std::vector<std::vector<double>> images;
  for (Index k = 0; k < n; ++k) {
    std::vector<double>& image = images.emplace_back(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        image[static_cast<std::size_t>(i)] +=
            a(i, j) * std::sqrt(2.0 / static_cast<double>(n + 1)) *
            std::sin(std::numbers::pi * static_cast<double>((j + 1) * (k + 1)) / static_cast<double>(n + 1));
      }
    }
  }
  return images;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// V^T A^T A V = Sigma^2 with the orthogonal V of sines: they are the singular values.
TEST(Spectrum, IsThatOfTheDistribution) {
  constexpr double condition = 1e4;
  for (const Index n : {1, 2, 31}) {
    for (const std::string_view spectrum : all_spectra) {
      for (const std::string base : {"svd", "poev", "heev"}) {
        const std::string name = base + "_" + std::string(spectrum) + "_cond1e4";
        const auto images = images_of_sines(Whole(MatrixKind::parse(name), n), n);
        std::vector<double> found, expected = spectrum_values(spectrum, n, condition, seed);
        for (std::size_t k = 0; k < images.size(); ++k) {
          found.push_back(std::sqrt(dot(images[k], images[k])));
          for (std::size_t l = 0; l < k; ++l) ASSERT_NEAR(dot(images[k], images[l]), 0, 1e-13) << name;
        }
        for (double& value : expected) value = std::fabs(value);
        std::ranges::sort(found);
        std::ranges::sort(expected);
        for (std::size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], expected[k], 1e-14) << name << " " << n;
      }
    }
  }
}

TEST(Spectrum, HasTheConditionAskedFor) {
  for (const std::string_view spectrum : {"logrand", "arith", "geo", "cluster0", "cluster1", "rgeo", "rcluster1"}) {
    const std::vector<double> values = spectrum_values(spectrum, 20, 1e6, seed);
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_NEAR(most, 1, 1e-15) << spectrum;
    EXPECT_NEAR(least, 1e-6, 2.3e-16) << spectrum;
  }
  EXPECT_GT(spectrum_values("rgeo", 20, 1e6, seed).back(), spectrum_values("rgeo", 20, 1e6, seed).front());
}

TEST(Spectrum, OfHeevAndPoevMakesSymmetricMatricesAndOfSvdADenseOneWithoutSymmetry) {
  const Index n = 30;
  const Whole svd(MatrixKind::parse("svd_geo"), n), poev(MatrixKind::parse("poev_geo"), n),
      heev(MatrixKind::parse("heev_geo"), n);
  double asymmetry = 0, trace = 0;
  for (Index i = 0; i < n; ++i) {
    trace += poev(i, i);
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(poev(i, j), poev(j, i));
      EXPECT_EQ(heev(i, j), heev(j, i));
      asymmetry = std::max(asymmetry, std::fabs(svd(i, j) - svd(j, i)));
    }
  }
  const std::vector<double> values =
      spectrum_values("geo", n, std::sqrt(1 / std::numeric_limits<double>::epsilon()), seed);
  EXPECT_NEAR(trace, std::accumulate(values.begin(), values.end(), 0.0), 1e-13);
  EXPECT_GT(asymmetry, 0.01);
}

TEST(Modifiers, ScaleAndZeroAndMakeDominant) {
  const Index n = 9;
  const Whole plain(MatrixKind::parse("rands"), n), large(MatrixKind::parse("rands_ofl"), n),
      dominant(MatrixKind::parse("rands_dominant"), n), half(MatrixKind::parse("rands_zerohalf"), n),
      third(MatrixKind::parse("rands_zerocol3"), n), middle(MatrixKind::parse("rands_zerocol0.5"), n);
  const double scale = large(0, 0) / plain(0, 0);
  EXPECT_GT(scale, 1e292);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= n; ++j) {
      EXPECT_EQ(large(i, j), scale * plain(i, j));
      EXPECT_EQ(dominant(i, j), plain(i, j) + (i == j ? static_cast<double>(n) : 0));
      EXPECT_EQ(half(i, j), j >= 4 && j < n ? 0 : plain(i, j));
      EXPECT_EQ(third(i, j), j == 3 ? 0 : plain(i, j));
      EXPECT_EQ(middle(i, j), j == 4 ? 0 : plain(i, j));
    }
  }
}

TEST(Modifiers, ThatDoNotApplyAreRefusedWithTheirReason) {
  for (const char* name : {"", "_", "rands_", "rands_geo", "svd_cond0.5", "svd_condx", "hpl_ufl", "minij_dominant",
                           "rands_zerocol", "rands_zerocol-1", "rands_zerocol1.5", "rands_zerocol1_zerohalf", "dlatb4",
                           "dlatb4_0", "dlatb4_12", "dlatb4_1.5", "upper", "hilbert_reversed", "svd__geo"}) {
    EXPECT_THROW(MatrixKind::parse(name), std::invalid_argument) << name;
  }
  EXPECT_THROW(make_source(MatrixKind::parse("rands_zerocol5"), 5, seed), std::invalid_argument);
}

// As slate/matgen/generate_matrix_ge.cc has them.
TEST(Bases, AreThoseOfSlate) {
  const auto expect_rows = [](const char* name, const std::vector<std::vector<double>>& rows) {
    const auto n = static_cast<Index>(rows.size());
    const Whole whole(MatrixKind::parse(name), n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(whole(i, j), rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) << name << i << j;
      }
    }
  };
  expect_rows("clement", {{0, 1, 0, 0}, {3, 0, 2, 0}, {0, 2, 0, 3}, {0, 0, 1, 0}});
  expect_rows("pei", {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
  expect_rows("frank", {{4, 3, 2, 1}, {3, 3, 2, 1}, {0, 2, 2, 1}, {0, 0, 1, 1}});
  expect_rows("moler", {{1, -1, -1}, {-1, 2, 0}, {-1, 0, 3}});
  expect_rows("toeppen", {{0, 10, 1, 0}, {-10, 0, 10, 1}, {1, -10, 0, 10}, {0, 1, -10, 0}});
  expect_rows("zielkeNS", {{0, 0, -1}, {1, 0, 0}, {1, 1, 0}});
  expect_rows("circul", {{1, 2, 3}, {3, 1, 2}, {2, 3, 1}});
  expect_rows("redheff", {{1, 1, 1, 1}, {1, 1, 0, 1}, {1, 0, 1, 0}, {1, 0, 0, 1}});
}

/// The column of the first zero pivot of elimination with partial pivoting.
std::optional<Index> first_zero_pivot(const Whole& whole, Index n) {
  std::vector<std::vector<double>> a(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a[static_cast<std::size_t>(i)].push_back(whole(i, j));
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto magnitude = [k](const std::vector<double>& row) { return std::fabs(row[k]); };
    std::iter_swap(a.begin() + static_cast<std::ptrdiff_t>(k),
                   std::ranges::max_element(a.begin() + static_cast<std::ptrdiff_t>(k), a.end(), {}, magnitude));
    if (a[k][k] == 0) return static_cast<Index>(k);
    for (std::size_t i = k + 1; i < a.size(); ++i) {
      const double multiplier = a[i][k] / a[k][k];
      for (std::size_t j = k; j < a.size(); ++j) a[i][j] -= multiplier * a[k][j];
    }
  }
  return std::nullopt;
}

TEST(Singularity, OfEveryBaseOfSmallOrderIsWhatEliminationFinds) {
  for (const MatrixBase& base : matrix_bases()) {
    for (Index n = 1; n <= 9; ++n) {
      const MatrixKind kind = MatrixKind::parse(std::string(base.name));
      const Singularity expected = make_source(kind, n, seed)->singularity();
      if (expected.uncertain) continue;
      EXPECT_EQ(first_zero_pivot(Whole(kind, n), n), expected.column) << base.name << " " << n;
    }
  }
}

TEST(Singularity, IsTheFirstZeroColumnOrThatOfTheBase) {
  const auto column = [](const char* name, Index n) {
    return make_source(MatrixKind::parse(name), n, seed)->singularity().column.value_or(-1);
  };
  EXPECT_EQ(column("rands", 9), -1);
  EXPECT_EQ(column("zeros", 9), 0);
  EXPECT_EQ(column("ones", 1), -1);
  EXPECT_EQ(column("ones", 9), 1);
  EXPECT_EQ(column("clement", 9), 8);
  EXPECT_EQ(column("clement", 8), -1);
  EXPECT_EQ(column("ones_zerocol0", 9), 0);
  EXPECT_EQ(column("ones_zerocol5", 9), 1);
  EXPECT_EQ(column("dlatb4_5", 9), 0);
  EXPECT_EQ(column("dlatb4_6", 9), 8);
  EXPECT_EQ(column("dlatb4_7", 9), 4);
  EXPECT_TRUE(make_source(MatrixKind::parse("redheff"), 9, seed)->singularity().uncertain);
}

}  // namespace
}  // namespace glinpack
