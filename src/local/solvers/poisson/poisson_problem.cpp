#include "solvers/poisson/poisson_problem.hpp"

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

std::vector<double> PoissonProblem::residual(std::span<const double> u) const {
  const auto value = [&](Index i, Index j) { return i < 0 || i >= n_ || j < 0 || j >= n_ ? 0.0 : u[at(i * n_ + j)]; };
  std::vector<double> residual;
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j) {
      const double beside = value(i - 1, j) + value(i + 1, j) + value(i, j - 1) + value(i, j + 1);
      residual.push_back(right(i, j) - (4 * value(i, j) - beside));
    }
  }
  return residual;
}

template <class Real>
PoissonProblem::ResidualSquares PoissonProblem::residual_squares(std::span<const Real> u, Index first_row,
                                                                 std::span<const Real> above,
                                                                 std::span<const Real> below) const {
  const Index rows = static_cast<Index>(u.size()) / n_;
  const auto value = [&](Index i, Index j) {
    if (j < 0 || j >= n_) return 0.0;
    const std::span<const Real> row = i < 0 ? above : i >= rows ? below : u.subspan(at(i * n_), at(n_));
    return row.empty() ? 0.0 : static_cast<double>(row[at(j)]);
  };
  ResidualSquares squares;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < n_; ++j) {
      const double b = right(first_row + i, j);
      const double r = b - (4 * value(i, j) - value(i - 1, j) - value(i + 1, j) - value(i, j - 1) - value(i, j + 1));
      squares.residual += r * r;
      squares.right += b * b;
    }
  }
  return squares;
}

template PoissonProblem::ResidualSquares PoissonProblem::residual_squares(std::span<const float>, Index,
                                                                          std::span<const float>,
                                                                          std::span<const float>) const;
template PoissonProblem::ResidualSquares PoissonProblem::residual_squares(std::span<const double>, Index,
                                                                          std::span<const double>,
                                                                          std::span<const double>) const;

double poisson_discretisation_bound(Index n) {
  const double h = 1.0 / static_cast<double>(n + 1);
  return std::pow(std::numbers::pi, 4) * h * h / 6;
}

}  // namespace glinpack
