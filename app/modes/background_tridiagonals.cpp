// Background work: N tridiagonal systems of N equations each, as in a step along one direction of a grid.
#include <optional>

#include "app/modes/background_kinds.hpp"
#include "app/modes/background_matrices.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalSystems;

constexpr solvers::TridiagonalSettings tridiagonal_settings{.variant = solvers::TridiagonalVariant::compute};
constexpr double largest_residual = 16;  // HPL's

// Copies the matrix's diagonals into every system.
void take_matrix(const std::vector<float>& matrix, TridiagonalSystems<float>& systems) {
  const Index n = systems.n;
  const RowMajorView<const float> a = square_view(matrix, n);
  for (Index k = 0; k < systems.count * n; ++k) {
    const auto place = static_cast<std::size_t>(k);
    const Index i = k % n;
    systems.lower[place] = i > 0 ? a(i, i - 1) : 0;
    systems.diagonal[place] = a(i, i);
    systems.upper[place] = i + 1 < n ? a(i, i + 1) : 0;
  }
}

class TridiagonalGrids final : public BackgroundProblems {
 public:
  explicit TridiagonalGrids(const BackgroundSource& source) : n_(source.n), threads_(source.threads) {
    for (Index problem = 0; problem < source.count; ++problem) {
      const std::uint64_t seed = source.seed + static_cast<std::uint64_t>(problem);
      systems_.push_back(solvers::random_tridiagonal_systems<float>(n_, n_, seed));
      if (!source.matrix.empty()) take_matrix(source.matrix, systems_.back());
    }
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  BackgroundAnswer solve_on_host(Index problem) const override {
    TridiagonalSystems<float> systems = of(problem);
    check(solve_tridiagonal_on_host(systems, threads_));
    return {std::move(systems.right)};
  }
  double error_of(Index problem, const BackgroundAnswer& answer) const override {
    return solvers::largest_tridiagonal_residual<float>(of(problem), answer.numbers);
  }
  double tolerance() const override { return largest_residual; }
  // one solution per column
  DenseMatrix matrix_of(const BackgroundAnswer& answer) const override {
    DenseMatrix matrix{n_, n_, std::vector<double>(answer.numbers.size())};
    for (std::size_t k = 0; k < answer.numbers.size(); ++k) {
      const auto n = static_cast<std::size_t>(n_);
      matrix.elements[k % n * n + k / n] = static_cast<double>(answer.numbers[k]);
    }
    return matrix;
  }

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const TridiagonalGrids& problems, solvers::Device& device)
        : problems_(problems),
          solver_(solvers::make_tridiagonal_solver<float>(device, problems.n_, problems.n_, tridiagonal_settings)) {}
    BackgroundAnswer solve(Index problem) override {
      solver_->load(problems_.of(problem));
      solver_->compute();
      std::vector<float> solution(problems_.of(problem).right.size());
      check(solver_->store(solution));
      return {std::move(solution)};
    }

   private:
    const TridiagonalGrids& problems_;
    std::unique_ptr<solvers::TridiagonalSolver<float>> solver_;
  };

  static void check(const std::optional<solvers::ZeroPivot>& zero) {
    if (!zero) return;
    throw NoAnswer("zero pivot: system " + std::to_string(zero->system + 1) + ", row " +
                   std::to_string(zero->equation + 1));
  }
  const TridiagonalSystems<float>& of(Index problem) const { return systems_[static_cast<std::size_t>(problem)]; }

  Index n_;
  int threads_;
  std::vector<TridiagonalSystems<float>> systems_;
};

}  // namespace

BackgroundOperation tridiagonal_operation() {
  return {.name = "tridiagonal",
          .summary = "N tridiagonal systems of N equations",
          .against = "the equations, by their residual",
          .make = [](const BackgroundSource& source) -> std::unique_ptr<BackgroundProblems> {
            return std::make_unique<TridiagonalGrids>(source);
          },
          .flops = [](Index n) { return solvers::tridiagonal_flops(n, n); },
          .numbers = [](Index n) { return 5 * square(n); },
          .obstacle = [](const gl::DeviceDescription& device,
                         Index n) { return tridiagonal_obstacle(device, tridiagonal_settings, Precision::single, n, n); },
          .tridiagonal = true};
}

}  // namespace glinpack::app
