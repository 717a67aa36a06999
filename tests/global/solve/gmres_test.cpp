// Compares GMRES with its definition: the least residual over the Krylov space, computed by another method.
#include "solve/gmres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/precision.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack {
namespace {

using Vector = std::vector<double>;

double norm(std::span<const double> a) {
  double square = 0;
  for (const double value : a) square += value * value;
  return std::sqrt(square);
}

// In [-1, 1).
double random_number(std::uint64_t number) { return static_cast<double>(splitmix64(7, number) >> 11U) * 0x1p-52 - 1; }

struct Dense {
  Index n = 0;
  Vector a;  // row-major

  Vector times(std::span<const double> x) const {
    Vector y(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < y.size(); ++j) y[i] += a[i * y.size() + j] * x[j];
    }
    return y;
  }
};

/// A random matrix with `diagonal` added to its diagonal.
Dense random_matrix(Index n, double diagonal) {
  Dense matrix{n, Vector(static_cast<std::size_t>(n * n))};
  for (std::size_t i = 0; i < matrix.a.size(); ++i) matrix.a[i] = random_number(i);
  for (Index i = 0; i < n; ++i) matrix.a[static_cast<std::size_t>(i * (n + 1))] += diagonal;
  return matrix;
}

Vector random_vector(Index n) {
  Vector b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_number(1'000'000 + i);
  return b;
}

Vector difference(const Vector& a, const Vector& b) {
  Vector result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

/// A dense system on one rank that records residuals and solutions.
class DenseSystem final : public GmresSystem {
 public:
  using Preconditioner = std::function<Vector(std::span<const double>)>;
  DenseSystem(Dense a, Preconditioner preconditioner) : a_(std::move(a)), preconditioner_(std::move(preconditioner)) {}

  void precondition(std::span<const double> v, std::span<double> z) override {
    EXPECT_NEAR(norm(v), 1, tolerance<double>(a_.n));
    const Vector result = preconditioner_(v);
    std::copy(result.begin(), result.end(), z.begin());
  }
  void multiply(std::span<const double> z, std::span<double> w) override {
    const Vector result = a_.times(z);
    std::copy(result.begin(), result.end(), w.begin());
  }
  void dot(const double* basis, std::span<const double> w, std::span<double> products) override {
    for (std::size_t i = 0; i < products.size(); ++i) {
      products[i] = 0;
      for (std::size_t k = 0; k < w.size(); ++k) products[i] += basis[i * w.size() + k] * w[k];
    }
  }
  bool enough(std::span<const double> residual, std::span<const double> x) override {
    residuals.emplace_back(residual.begin(), residual.end());
    solutions.emplace_back(x.begin(), x.end());
    return norm(residual) <= tolerated;
  }

  std::vector<Vector> residuals;
  std::vector<Vector> solutions;
  double tolerated = 0;

 private:
  Dense a_;
  Preconditioner preconditioner_;
};

Vector unchanged(std::span<const double> v) { return {v.begin(), v.end()}; }

/// The least ||r - A K y||_2 over the Krylov space K = {r, A r, ..., A^(steps-1) r}. Subtracts the projections of r on
/// A K, one orthogonalized vector after the other, in extended precision.
double min_residual(const Dense& a, const Vector& r, int steps) {
  std::vector<std::vector<long double>> orthogonal;
  std::vector<long double> remainder(r.begin(), r.end());
  Vector krylov = r;
  const auto subtract_projection = [](const std::vector<long double>& q, std::vector<long double>& from) {
    long double product = 0;
    for (std::size_t i = 0; i < q.size(); ++i) product += q[i] * from[i];
    for (std::size_t i = 0; i < q.size(); ++i) from[i] -= product * q[i];
  };
  for (int step = 0; step < steps; ++step) {
    krylov = a.times(krylov);
    const double scale = norm(krylov);
    for (double& value : krylov) value /= scale;
    std::vector<long double> q(krylov.begin(), krylov.end());
    for (int round = 0; round < 3; ++round) {
      for (const auto& other : orthogonal) subtract_projection(other, q);
    }
    long double square = 0;
    for (const long double value : q) square += value * value;
    for (long double& value : q) value /= std::sqrt(square);
    subtract_projection(q, remainder);
    orthogonal.push_back(std::move(q));
  }
  long double square = 0;
  for (const long double value : remainder) square += value * value;
  return static_cast<double>(std::sqrt(square));
}

TEST(Gmres, FindsTheLeastResidualOfEveryKrylovSpace) {
  constexpr Index n = 30;
  const Dense a = random_matrix(n, 8);
  const Vector b = random_vector(n);
  for (const int steps : {1, 2, 5, 12}) {
    DenseSystem system(a, unchanged);
    Gmres gmres(n, n, 12);
    Vector x(n);
    ASSERT_EQ(gmres.run(system, b, x, steps), steps);
    const double expected = min_residual(a, b, steps);
    // the Krylov vectors of the comparison lose digits with every step; those of GMRES do not
    EXPECT_NEAR(norm(difference(b, a.times(x))), expected, 1e-9 * norm(b)) << steps << " steps";
    ASSERT_EQ(system.residuals.size(), static_cast<std::size_t>(steps));
    for (int step = 1; step <= steps; ++step) {
      EXPECT_NEAR(norm(system.residuals[static_cast<std::size_t>(step - 1)]), min_residual(a, b, step), 1e-9 * norm(b));
    }
  }
}

TEST(Gmres, ReportsSolutionAndResidualOfEveryStep) {
  constexpr Index n = 25;
  const Dense a = random_matrix(n, 6);
  const Vector b = random_vector(n);
  DenseSystem system(a, unchanged);
  Gmres gmres(n, n, 9);
  Vector x(n, 0.5);
  ASSERT_EQ(gmres.run(system, difference(b, a.times(x)), x, 9), 9);
  ASSERT_EQ(system.solutions.size(), 9U);
  EXPECT_EQ(system.solutions.back(), x);
  for (std::size_t step = 0; step < system.solutions.size(); ++step) {
    const Vector residual = difference(b, a.times(system.solutions[step]));
    for (std::size_t i = 0; i < residual.size(); ++i) {
      EXPECT_NEAR(system.residuals[step][i], residual[i], 100 * tolerance<double>(n) * norm(b)) << step << ", " << i;
    }
  }
}

TEST(Gmres, SolvesInNStepsFromAnyStart) {
  constexpr Index n = 20;
  const Dense a = random_matrix(n, 0);
  const Vector b = random_vector(n);
  for (const double start : {0.0, 3.0}) {
    DenseSystem system(a, unchanged);
    Gmres gmres(n, n, n);
    Vector x(n, start);
    gmres.run(system, difference(b, a.times(x)), x, n);
    EXPECT_LT(norm(difference(b, a.times(x))), 1000 * tolerance<double>(n) * norm(x));
  }
}

TEST(Gmres, NeedsOneStepWithAnExactPreconditionerAndStopsAtAZeroResidual) {
  constexpr Index n = 16;
  Dense a{n, Vector(n * n)};
  for (std::size_t i = 0; i < n; ++i) a.a[i * (n + 1)] = static_cast<double>(i + 1);
  const Vector b = random_vector(n);
  DenseSystem system(a, [](std::span<const double> v) {
    Vector z(v.begin(), v.end());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] /= static_cast<double>(i + 1);
    return z;
  });
  system.tolerated = tolerance<double>(n) * norm(b);
  Gmres gmres(n, n, 10);
  Vector x(n);
  EXPECT_EQ(gmres.run(system, b, x, 10), 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i], b[i] / static_cast<double>(i + 1), tolerance<double>(n) * norm(b));
  }
}

// Single-precision factors are linear only to seven digits.
TEST(Gmres, HandlesANonlinearPreconditioner) {
  constexpr Index n = 40;
  const Dense a = random_matrix(n, 10);
  const Vector b = random_vector(n);
  std::uint64_t noise = 0;
  DenseSystem system(a, [&noise](std::span<const double> v) {
    Vector z(v.begin(), v.end());
    for (double& value : z) value *= 1 + 1e-2 * random_number(2'000'000 + noise++);
    return z;
  });
  system.tolerated = 1e-12 * norm(b);
  Gmres gmres(n, n, n);
  Vector x(n);
  gmres.run(system, b, x, n);
  EXPECT_LT(norm(difference(b, a.times(x))), 2e-12 * norm(b));
}

TEST(Gmres, DoesNotChangeXForAZeroOrNonFiniteResidual) {
  constexpr Index n = 5;
  const Dense a = random_matrix(n, 3);
  Gmres gmres(n, n, 4);
  Vector x(n, 1.0);
  DenseSystem system(a, unchanged);
  EXPECT_EQ(gmres.run(system, Vector(n), x, 4), 0);
  EXPECT_EQ(x, Vector(n, 1.0));

  DenseSystem overflows(a, [](std::span<const double> v) { return Vector(v.size(), NAN); });
  EXPECT_EQ(gmres.run(overflows, random_vector(n), x, 4), 0);
  EXPECT_EQ(x, Vector(n, 1.0));
  EXPECT_TRUE(overflows.residuals.empty());

  DenseSystem nothing(a, [](std::span<const double> v) { return Vector(v.size()); });
  EXPECT_EQ(gmres.run(nothing, random_vector(n), x, 4), 0);
  EXPECT_EQ(x, Vector(n, 1.0));
}

TEST(Gmres, AcceptsEmptyVectors) {
  // a rank without rows or columns gets its sums from the others
  class Empty final : public GmresSystem {
    void precondition(std::span<const double>, std::span<double>) override {}
    void multiply(std::span<const double>, std::span<double>) override {}
    void dot(const double*, std::span<const double>, std::span<double> products) override {
      std::fill(products.begin(), products.end(), 1.0);
    }
    bool enough(std::span<const double>, std::span<const double>) override { return ++calls == 2; }
    int calls = 0;
  };
  Empty system;
  Gmres gmres(0, 0, 6);
  EXPECT_EQ(gmres.run(system, {}, {}, 6), 2);
}

}  // namespace
}  // namespace glinpack
