#include "local/poisson_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace glinpack {

PoissonProblem::PoissonProblem(Index n) : n_(n) {
  if (n < 1) throw std::invalid_argument("a square without interior points has nothing to solve");
  const double pi = std::numbers::pi;
  right_scale_ = -2 * pi * pi * spacing() * spacing();
  for (Index i = 0; i < n; ++i) {
    const double x = spacing() * static_cast<double>(i + 1), sine = std::sin(pi * x);
    square_.push_back(sine * sine);
    cosine_.push_back(std::cos(2 * pi * x));
  }
}

template <class Real>
double PoissonProblem::largest_error(std::span<const Real> computed, Index first_row) const {
  double largest = 0;
  for (std::size_t e = 0; e < computed.size(); ++e) {
    const auto row = static_cast<Index>(e) / n_, column = static_cast<Index>(e) % n_;
    const double error = std::abs(exact(first_row + row, column) - static_cast<double>(computed[e]));
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

template double PoissonProblem::largest_error(std::span<const float>, Index) const;
template double PoissonProblem::largest_error(std::span<const double>, Index) const;

template <class Real>
double PoissonProblem::relative_residual(std::span<const Real> u) const {
  const auto value = [&](Index i, Index j) {
    return i < 0 || j < 0 || i >= n_ || j >= n_ ? 0.0 : static_cast<double>(u[at(i * n_ + j)]);
  };
  double residual_square = 0, right_square = 0;
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j) {
      const double b = right(i, j);
      const double r = b - (4 * value(i, j) - value(i - 1, j) - value(i + 1, j) - value(i, j - 1) - value(i, j + 1));
      residual_square += r * r;
      right_square += b * b;
    }
  }
  return std::sqrt(residual_square / right_square);
}

template double PoissonProblem::relative_residual(std::span<const float>) const;
template double PoissonProblem::relative_residual(std::span<const double>) const;

double poisson_discretisation_bound(Index n) {
  const double h = 1.0 / static_cast<double>(n + 1);
  return std::pow(std::numbers::pi, 4) * h * h / 6;
}

}  // namespace glinpack
