// Random matrices and checks for `glinpack background`.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "app/modes/background_problems.hpp"
#include "backend/matrix_view.hpp"

namespace glinpack::app {

inline double square(Index n) { return static_cast<double>(n) * static_cast<double>(n); }

inline RowMajorView<const float> square_view(const std::vector<float>& elements, Index n) {
  return {elements.data(), n, n, n};
}

/// rows x columns random elements in [-0.5, 0.5).
inline std::vector<float> random_elements(Index rows, Index columns, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<float> elements(static_cast<std::size_t>(rows * columns));
  for (float& element : elements) element = uniform(random);
  return elements;
}

/// The matrix A of the next problem.
inline std::vector<float> next_matrix(const BackgroundSource& source, std::mt19937_64& random) {
  return source.matrix.empty() ? random_elements(source.n, source.n, random) : source.matrix;
}

/// A vector of elements in [-1, 1), to compare matrices by their product with it (R. Freivalds, 1977).
inline std::vector<double> random_probe(Index n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> probe(static_cast<std::size_t>(n));
  for (double& element : probe) element = uniform(random);
  return probe;
}

/// y_i = the sum of at(i, j) x_j for first(i) <= j < last(i), in double precision.
template <class At, class First, class Last>
std::vector<double> times_vector(const std::vector<double>& x, At at, First first, Last last) {
  std::vector<double> y(x.size());
  for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
    for (Index j = first(i); j < last(i); ++j) {
      y[static_cast<std::size_t>(i)] += static_cast<double>(at(i, j)) * x[static_cast<std::size_t>(j)];
    }
  }
  return y;
}

/// A x.
inline std::vector<double> times_vector(const std::vector<float>& matrix, Index n, const std::vector<double>& x) {
  const RowMajorView<const float> a = square_view(matrix, n);
  return times_vector(
      x, [&](Index i, Index j) { return a(i, j); }, [](Index) { return Index{0}; }, [n](Index) { return n; });
}

/// The largest magnitude of x - y; not finite if an element is not.
inline double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    if (!std::isfinite(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace glinpack::app
