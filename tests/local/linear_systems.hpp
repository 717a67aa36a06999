// Dense systems for the tests of the solvers, and LAPACK's solutions.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "openblas/host_solvers.hpp"
#include "solvers/elimination/elimination.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack::test {

template <class Real>
Values<Real> transposed(const Values<Real>& values) {
  Values<Real> result(values.columns, values.rows);
  for (Index i = 0; i < values.rows; ++i) {
    for (Index j = 0; j < values.columns; ++j) result(j, i) = values(i, j);
  }
  return result;
}

/// LAPACK's double-precision solution. `condition`: || A || || A^-1 ||, maximum norms.
template <class Real>
struct ExactSolution {
  Values<Real> x;
  double condition = 0;
};

inline double norm_of(const Values<double>& a) {
  double norm = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.columns; ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

template <class Real>
ExactSolution<Real> solve_exactly(const Values<Real>& a, const Values<Real>& b) {
  Values<double> matrix(a.rows, a.columns), right(b.columns, b.rows);
  matrix.elements.assign(a.elements.begin(), a.elements.end());
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.columns; ++j) right(j, i) = b(i, j);
  }
  Values<double> inverse = matrix;
  EXPECT_EQ(invert_on_host<double>(view(inverse)), 0);
  ExactSolution<Real> exact{Values<Real>(b.rows, b.columns), norm_of(matrix) * norm_of(inverse)};
  EXPECT_EQ(solve_on_host<double>(view(matrix), {right.elements.data(), b.rows, b.columns, b.rows}), 0);
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.columns; ++j) exact.x(i, j) = static_cast<Real>(right(j, i));
  }
  return exact;
}

template <class Real = float>
Values<Real> identity(Index n) {
  Values<Real> values(n, n);
  for (Index i = 0; i < n; ++i) values(i, i) = 1;
  return values;
}

/// Expects a backward stable solution X of A X = B. The bound of its difference from LAPACK's is the residual bound
/// times eps n, a relative change of A and b, times the condition number of A.
template <class Real>
void expect_solution(Values<Real> a, Values<Real> x, Values<Real> b) {
  EXPECT_LE(scaled_residual<Real>(view(a), view(x), view(b)), solvers::largest_scaled_residual);
  const ExactSolution<Real> exact = solve_exactly(a, b);
  const double allowed = 2 * solvers::largest_scaled_residual * epsilon_of(precision_of<Real>) *
                         static_cast<double>(a.rows) * exact.condition;
  for (Index j = 0; j < x.columns; ++j) {
    double largest = 0, difference = 0;
    for (Index i = 0; i < x.rows; ++i) {
      largest = std::max(largest, std::abs(double{exact.x(i, j)}));
      difference = std::max(difference, std::abs(double{x(i, j)} - double{exact.x(i, j)}));
    }
    EXPECT_LE(difference, allowed * largest) << "right-hand side " << j;
  }
}

/// The step that a SingularMatrixError of `call` reports, or -1.
template <class Call>
Index singular_step(Call call, std::string* message = nullptr) {
  try {
    call();
  } catch (const solvers::SingularMatrixError& error) {
    if (message) *message = error.what();
    return error.step();
  }
  return -1;
}

}  // namespace glinpack::test
