#include "app/modes/background_problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "local/host/flops.hpp"
#include "local/openblas/host_solvers.hpp"
#include "local/openblas/tridiagonal.hpp"
#include "local/solvers/matmul.hpp"
#include "local/solvers/tridiagonal.hpp"

namespace glinpack::app {

namespace {

double square(Index n) { return static_cast<double>(n) * static_cast<double>(n); }

std::vector<float> random_matrix(Index n, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<float> elements(static_cast<std::size_t>(n * n));
  for (float& element : elements) element = uniform(random);
  return elements;
}

RowMajorView<const float> view(const std::vector<float>& elements, Index n) { return {elements.data(), n, n, n}; }

std::vector<double> times_vector(const std::vector<float>& matrix, Index n, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      y[static_cast<std::size_t>(i)] += static_cast<double>(view(matrix, n)(i, j)) * x[static_cast<std::size_t>(j)];
    }
  }
  return y;
}

/// C = A B.
class Products final : public BackgroundProblems {
 public:
  Products(Index count, Index n, std::uint64_t seed) : n_(n) {
    std::mt19937_64 random(seed);
    for (Index problem = 0; problem < count; ++problem) {
      left_.push_back(random_matrix(n, random));
      right_.push_back(random_matrix(n, random));
    }
    probe_.resize(static_cast<std::size_t>(n));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& element : probe_) element = uniform(random);
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  Numbers solve_on_host(Index problem) const override {
    Numbers product(static_cast<std::size_t>(n_ * n_));
    multiply_on_host<float>(view(left(problem), n_), view(right(problem), n_), {product.data(), n_, n_, n_});
    return product;
  }
  // C v against A (B v) in double precision, v of elements below 1 (R. Freivalds, 1977): all elements take part. A sum
  // of n elements of C: n times their tolerance, relative to the 0.25 that products of elements are at most.
  double error_of(Index problem, const Numbers& answer) const override {
    const std::vector<double> expected = times_vector(left(problem), n_, times_vector(right(problem), n_, probe_));
    const std::vector<double> computed = times_vector(answer, n_, probe_);
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::abs(expected[i] - computed[i]);
      if (!std::isfinite(difference)) return difference;
      largest = std::max(largest, difference);
    }
    return largest / (0.25 * static_cast<double>(n_));
  }
  double tolerance() const override { return glinpack::tolerance<float>(n_); }

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const Products& problems, solvers::Device& device)
        : problems_(problems),
          product_(solvers::make_matrix_product<float>(device, {problems.n_, problems.n_, problems.n_}, settings())) {}
    Numbers solve(Index problem) override {
      const Index n = problems_.n_;
      product_->load(view(problems_.left(problem), n), view(problems_.right(problem), n));
      product_->compute();
      Numbers product(static_cast<std::size_t>(n * n));
      product_->store({product.data(), n, n, n});
      return product;
    }

   private:
    const Products& problems_;
    std::unique_ptr<solvers::MatrixProduct<float>> product_;
  };

 public:
  static solvers::MatmulSettings settings() { return {.variant = solvers::MatmulVariant::compute}; }

 private:
  const std::vector<float>& left(Index problem) const { return left_[static_cast<std::size_t>(problem)]; }
  const std::vector<float>& right(Index problem) const { return right_[static_cast<std::size_t>(problem)]; }

  Index n_;
  std::vector<std::vector<float>> left_, right_;
  std::vector<double> probe_;
};

/// N tridiagonal systems of N equations each, as in a step along one direction of a grid.
class TridiagonalGrids final : public BackgroundProblems {
 public:
  TridiagonalGrids(Index count, Index n, std::uint64_t seed, int threads) : n_(n), threads_(threads) {
    for (Index problem = 0; problem < count; ++problem) {
      systems_.push_back(solvers::random_tridiagonal_systems<float>(n, n, seed + static_cast<std::uint64_t>(problem)));
    }
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  Numbers solve_on_host(Index problem) const override {
    solvers::TridiagonalSystems<float> systems = of(problem);
    check(solve_tridiagonal_on_host(systems, threads_));
    return std::move(systems.right);
  }
  double error_of(Index problem, const Numbers& answer) const override {
    return solvers::largest_tridiagonal_residual<float>(of(problem), answer);
  }
  double tolerance() const override { return 16; }  // HPL's

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const TridiagonalGrids& problems, solvers::Device& device)
        : problems_(problems),
          solver_(solvers::make_tridiagonal_solver<float>(device, problems.n_, problems.n_, settings())) {}
    Numbers solve(Index problem) override {
      solver_->load(problems_.of(problem));
      solver_->compute();
      Numbers solution(problems_.of(problem).right.size());
      check(solver_->store(solution));
      return solution;
    }

   private:
    const TridiagonalGrids& problems_;
    std::unique_ptr<solvers::TridiagonalSolver<float>> solver_;
  };

 public:
  static solvers::TridiagonalSettings settings() { return {.variant = solvers::TridiagonalVariant::compute}; }

 private:
  static void check(const std::optional<solvers::ZeroPivot>& zero) {
    if (!zero) return;
    throw std::runtime_error("zero pivot: system " + std::to_string(zero->system + 1) + ", row " +
                             std::to_string(zero->equation + 1));
  }
  const solvers::TridiagonalSystems<float>& of(Index problem) const {
    return systems_[static_cast<std::size_t>(problem)];
  }

  Index n_;
  int threads_;
  std::vector<solvers::TridiagonalSystems<float>> systems_;
};

constexpr std::array operations{
    BackgroundOperation{
        .name = "matmul",
        .summary = "a product of two matrices of order N",
        .against = "A (B v) in double precision",
        .make = [](Index count, Index n, std::uint64_t seed, int) -> std::unique_ptr<BackgroundProblems> {
          return std::make_unique<Products>(count, n, seed);
        },
        .flops = [](Index n) { return reduce_flops(n, n, n); },
        .numbers = [](Index n) { return 3 * square(n); },
        .obstacle =
            [](const gl::DeviceDescription& device, Index n) {
              return matmul_obstacle(device, {n, n, n}, Products::settings(), Precision::single);
            }},
    BackgroundOperation{
        .name = "tridiagonal",
        .summary = "N tridiagonal systems of N equations",
        .against = "the equations, by their residual",
        .make = [](Index count, Index n, std::uint64_t seed, int threads) -> std::unique_ptr<BackgroundProblems> {
          return std::make_unique<TridiagonalGrids>(count, n, seed, threads);
        },
        .flops = [](Index n) { return solvers::tridiagonal_flops(n, n); },
        .numbers = [](Index n) { return 5 * square(n); },
        .obstacle =
            [](const gl::DeviceDescription& device, Index n) {
              return tridiagonal_obstacle(device, TridiagonalGrids::settings(), Precision::single, n, n);
            }}};

}  // namespace

std::span<const BackgroundOperation> background_operations() { return operations; }

}  // namespace glinpack::app
