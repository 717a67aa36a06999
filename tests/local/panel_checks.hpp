// What holds for the factors of a panel, however they are computed.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/precision.hpp"
#include "tests/local/random_matrix.hpp"

namespace glinpack::test {

/// The largest elements of |P A - L U| and of |L| |U|. The rounding error is proportional to the latter.
template <class Real>
std::pair<double, double> factorization_error(ColumnMajorMatrix<Real> original, ColumnMajorMatrix<Real>& factors,
                                              const std::vector<Index>& pivots) {
  const ColumnMajorView<Real> a = original.view();
  const ColumnMajorView<Real> lu = factors.view();
  for (Index k = 0; k < static_cast<Index>(pivots.size()); ++k) {
    for (Index j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivots[static_cast<std::size_t>(k)], j));
  }
  double error = 0;
  double scale = 0;
  for (Index j = 0; j < a.columns; ++j) {
    for (Index i = 0; i < a.rows; ++i) {
      double product = 0;
      double magnitude = 0;
      for (Index k = 0; k <= std::min(i, j); ++k) {
        const double term = (k == i ? 1.0 : static_cast<double>(lu(i, k))) * static_cast<double>(lu(k, j));
        product += term;
        magnitude += std::abs(term);
      }
      error = std::max(error, std::abs(static_cast<double>(a(i, j)) - product));
      scale = std::max(scale, magnitude);
    }
  }
  return {error, scale};
}

/// Expects P A = L U to within rounding. Tournaments on random rows keep multipliers near 1.
template <class Real>
void expect_factors(const ColumnMajorMatrix<Real>& original, ColumnMajorMatrix<Real>& factors,
                    const std::vector<Index>& pivots, double max_multiplier = 30) {
  for (Index j = 0; j < original.columns; ++j) {
    ASSERT_GE(pivots[static_cast<std::size_t>(j)], j);
    ASSERT_LT(pivots[static_cast<std::size_t>(j)], original.rows);
  }
  const auto [error, scale] = factorization_error(original, factors, pivots);
  EXPECT_LE(error, tolerance<Real>(original.columns) * scale);
  double largest_multiplier = 0;
  for (Index j = 0; j < original.columns; ++j) {
    for (Index i = j + 1; i < original.rows; ++i) {
      largest_multiplier = std::max(largest_multiplier, std::abs(static_cast<double>(factors.view()(i, j))));
    }
  }
  EXPECT_LE(largest_multiplier, max_multiplier);
}

/// Factorises a panel in place with these pivots; the first column without one.
template <class Real>
using PanelMethod = std::function<std::optional<Index>(ColumnMajorView<Real>, std::span<Index>)>;

template <class Real>
void check_factors(const PanelMethod<Real>& factorize, Index rows, Index columns, double max_multiplier = 30) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns);
  Random random(static_cast<unsigned>(rows + columns));
  const ColumnMajorMatrix<Real> original(rows, columns, random);
  auto factors = original;
  std::vector<Index> pivots(static_cast<std::size_t>(columns));
  EXPECT_EQ(factorize(factors.view(), pivots), std::nullopt);
  expect_factors(original, factors, pivots, max_multiplier);
}

template <class Real>
void check_first_zero_column(const PanelMethod<Real>& factorize) {
  Random random(3);
  for (const Index zero : {0, 5, 20, 33, 39}) {
    ColumnMajorMatrix<Real> a(200, 40, random);
    std::fill_n(a.view().column(zero), a.rows, Real{0});
    std::vector<Index> pivots(40);
    EXPECT_EQ(factorize(a.view(), pivots), zero);
  }
}

/// The factorisation ends, and the NaN is in its factors.
template <class Real>
void check_nan(const PanelMethod<Real>& factorize) {
  Random random(4);
  for (const auto& [row, column] : {std::pair<Index, Index>{0, 0}, {70, 10}, {149, 0}}) {
    ColumnMajorMatrix<Real> a(150, 36, random);
    a.view()(row, column) = std::numeric_limits<Real>::quiet_NaN();
    std::vector<Index> pivots(36);
    EXPECT_EQ(factorize(a.view(), pivots), std::nullopt);
    EXPECT_TRUE(std::any_of(a.elements.begin(), a.elements.end(), [](Real x) { return std::isnan(x); }));
  }
}

}  // namespace glinpack::test
