// A product of `glinpack matmul`: its matrices, and the comparison with the host's result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

/// A, B, the host's C, and a variant's C.
template <class Real>
struct MatmulProblem {
  explicit MatmulProblem(const solvers::ProductExtents& e)
      : extents(e),
        a(static_cast<std::size_t>(e.rows * e.depth)),
        b(static_cast<std::size_t>(e.depth * e.columns)),
        expected(static_cast<std::size_t>(e.rows * e.columns)),
        computed(expected.size()) {}

  RowMajorView<const Real> view_a() const { return {a.data(), extents.rows, extents.depth, extents.depth}; }
  RowMajorView<const Real> view_b() const { return {b.data(), extents.depth, extents.columns, extents.columns}; }
  RowMajorView<Real> view_of(std::vector<Real>& c) const {
    return {c.data(), extents.rows, extents.columns, extents.columns};
  }

  void fill_randomly(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
    for (std::vector<Real>* values : {&a, &b}) {
      for (Real& value : *values) value = uniform(random);
    }
  }

  solvers::ProductExtents extents;
  std::vector<Real> a, b, expected, computed;
};

/// max |a| max |b|: tolerance(), c k epsilon, bounds the differences divided by it.
template <class Real>
double scale_of(const MatmulProblem<Real>& problem) {
  const auto largest = [](const std::vector<Real>& values) {
    double magnitude = 0;
    for (const Real value : values) magnitude = std::max(magnitude, std::abs(static_cast<double>(value)));
    return magnitude;
  };
  const double scale = largest(problem.a) * largest(problem.b);
  return scale > 0 ? scale : 1;
}

/// The largest of the differences passed to add(); NaN if one is NaN.
class LargestDifference {
 public:
  void add(double difference) {
    if (!(std::abs(difference) <= largest_)) largest_ = std::abs(difference);
    finite_ = finite_ && std::isfinite(difference);
  }
  double over(double scale) const { return finite_ ? largest_ / scale : std::numeric_limits<double>::quiet_NaN(); }

 private:
  double largest_ = 0;
  bool finite_ = true;
};

/// Compares all elements of the variant's result with the host's.
template <class Real>
double error_of(const MatmulProblem<Real>& problem) {
  LargestDifference largest;
  for (std::size_t e = 0; e < problem.expected.size(); ++e) {
    largest.add(static_cast<double>(problem.computed[e]) - static_cast<double>(problem.expected[e]));
  }
  return largest.over(scale_of(problem));
}

/// Checks the host's own product: some elements, summed here in double precision.
template <class Real>
double sampled_error(const MatmulProblem<Real>& problem, std::uint64_t seed) {
  constexpr int samples = 256;
  std::mt19937_64 random(seed);
  const solvers::ProductExtents& e = problem.extents;
  std::uniform_int_distribution<Index> rows(0, e.rows - 1), columns(0, e.columns - 1);
  const RowMajorView<const Real> a = problem.view_a(), b = problem.view_b();
  LargestDifference largest;
  for (int sample = 0; sample < samples; ++sample) {
    const Index i = rows(random), j = columns(random);
    double sum = 0;
    for (Index k = 0; k < e.depth; ++k) sum += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
    largest.add(sum - static_cast<double>(problem.expected[static_cast<std::size_t>(i * e.columns + j)]));
  }
  return largest.over(scale_of(problem));
}

}  // namespace glinpack::app
