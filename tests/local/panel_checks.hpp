// The error of the factors of a panel.
#pragma once

#include <utility>

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

}  // namespace glinpack::test
