// Random operands for the tests, the same in every run, so that a failure is reproducible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack::test {

using Random = std::mt19937_64;

template <class Real>
Real random_element(Random& random) {
  return static_cast<Real>(std::uniform_real_distribution<double>(-0.5, 0.5)(random));
}

template <class Real>
std::vector<Real> random_elements(Index count, Random& random) {
  std::vector<Real> elements(static_cast<std::size_t>(count));
  for (Real& element : elements) element = random_element<Real>(random);
  return elements;
}

/// Makes the k x k triangle (either one, in either layout) at `data` well conditioned: small off-diagonal elements, a
/// diagonal near 2.
template <class Real>
void make_well_conditioned(Real* data, Index k, Index leading_dimension, Random& random) {
  const Real scale = Real{4} / static_cast<Real>(std::max<Index>(k, 4));
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) data[i * leading_dimension + j] *= scale;
    data[i * leading_dimension + i] = Real{2} + random_element<Real>(random);
  }
}

/// A column-major matrix in memory of its own, inside a frame of other elements: leading dimension larger than rows.
template <class Real>
struct ColumnMajorMatrix {
  ColumnMajorMatrix(Index matrix_rows, Index matrix_columns, Random& random)
      : rows(matrix_rows),
        columns(matrix_columns),
        leading_dimension(matrix_rows + 3),
        elements(random_elements<Real>(leading_dimension * (matrix_columns + 1), random)) {}

  ColumnMajorView<Real> view() { return {elements.data() + 1, rows, columns, leading_dimension}; }

  Index rows;
  Index columns;
  Index leading_dimension;
  std::vector<Real> elements;  // including the frame
};

template <class Real>
double largest_magnitude(const std::vector<Real>& elements) {
  double largest = 0;
  for (const Real element : elements) largest = std::max(largest, std::abs(static_cast<double>(element)));
  return largest;
}

}  // namespace glinpack::test
