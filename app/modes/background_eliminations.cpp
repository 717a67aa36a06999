// Background work: factorisations of dense matrices, and solutions of dense systems.
#include <spdlog/fmt/fmt.h>

#include "app/modes/background_kinds.hpp"
#include "app/modes/background_matrices.hpp"
#include "app/modes/dense_systems.hpp"
#include "openblas/host_solvers.hpp"
#include "backend/precision.hpp"
#include "backend/row_interchanges.hpp"
#include "solvers/elimination/gauss_jordan.hpp"
#include "solvers/elimination/plu_packed.hpp"

namespace glinpack::app {

namespace {

constexpr solvers::EliminationSettings elimination_settings{.variant = solvers::EliminationVariant::compute};

// Checks LAPACK's info.
void check_regular(Index info, Index n) {
  if (info != 0) throw NoAnswer(fmt::format("singular: LAPACK's getrf finds no pivot at step {} of {}", info, n));
}

// Calls `once` and converts its error for a singular matrix to NoAnswer.
template <class Once>
void on_device(Once once) {
  try {
    once();
  } catch (const solvers::SingularMatrixError& error) {
    throw NoAnswer(error.what());
  }
}

double row_sum_norm(const std::vector<float>& matrix, Index n) {
  double norm = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(static_cast<double>(square_view(matrix, n)(i, j)));
    norm = std::max(norm, sum);
  }
  return norm;
}

/// P A = L U, as in the paper's figure 5; downloads the factors.
class PluFactors final : public BackgroundProblems {
 public:
  explicit PluFactors(const BackgroundSource& source) : n_(source.n) {
    std::mt19937_64 random(source.seed);
    for (Index problem = 0; problem < source.count; ++problem) {
      rows_.push_back(next_matrix(source, random));
      columns_.push_back(transposed(rows_.back(), n_, n_));
    }
    probe_ = random_probe(n_, random);
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  BackgroundAnswer solve_on_host(Index problem) const override {
    BackgroundAnswer answer{.numbers = columns_[static_cast<std::size_t>(problem)], .by_columns = true};
    std::vector<Index> pivots(static_cast<std::size_t>(n_));
    check_regular(factorize_on_host<float>({answer.numbers.data(), n_, n_, n_}, pivots), n_);
    answer.row_order = row_order_of(pivots);
    return answer;
  }
  // || P A v - L (U v) || / (eps || A || n) in the maximum norm, for v with elements below 1 (R. Freivalds, 1977). It
  // is at most the scaled residual of the factors in `glinpack plu-packed`.
  double error_of(Index problem, const BackgroundAnswer& answer) const override {
    const float* factors = answer.numbers.data();
    const auto at = [&](Index i, Index j) { return answer.by_columns ? factors[i + j * n_] : factors[i * n_ + j]; };
    const auto zero = [](Index) { return Index{0}; };
    const auto row = [](Index i) { return i; };
    const auto all = [this](Index) { return n_; };
    const std::vector<double> upper = times_vector(probe_, at, row, all);
    std::vector<double> product = times_vector(upper, at, zero, row);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] += upper[i];
    const std::vector<float>& a = rows_[static_cast<std::size_t>(problem)];
    const std::vector<double> unordered = times_vector(a, n_, probe_);
    std::vector<double> expected(unordered.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = unordered[static_cast<std::size_t>(answer.row_order[i])];
    }
    const double scale = epsilon_of(Precision::single) * row_sum_norm(a, n_) * static_cast<double>(n_);
    return largest_difference(expected, product) / scale;
  }
  double tolerance() const override { return solvers::largest_scaled_residual; }
  DenseMatrix matrix_of(const BackgroundAnswer& answer) const override {
    const std::vector<float> rows = answer.by_columns ? transposed(answer.numbers, n_, n_) : answer.numbers;
    return {n_, n_, {rows.begin(), rows.end()}};
  }

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const PluFactors& problems, solvers::Device& device)
        : problems_(problems), solver_(device, problems.n_, 0, elimination_settings) {}
    BackgroundAnswer solve(Index problem) override {
      const Index n = problems_.n_;
      BackgroundAnswer answer{.numbers = std::vector<float>(static_cast<std::size_t>(n * n))};
      on_device([&] {
        solver_.load(square_view(problems_.rows_[static_cast<std::size_t>(problem)], n));
        solver_.factorize();
      });
      solver_.store_factors({answer.numbers.data(), n, n, n});
      answer.row_order = solver_.row_order();
      return answer;
    }

   private:
    const PluFactors& problems_;
    solvers::PluPacked solver_;
  };

  Index n_;
  std::vector<std::vector<float>> rows_, columns_;  // the same matrices in the device's and in LAPACK's layout
  std::vector<double> probe_;
};

/// A x = b.
class DenseEquations final : public BackgroundProblems {
 public:
  explicit DenseEquations(const BackgroundSource& source) : n_(source.n) {
    std::mt19937_64 random(source.seed);
    for (Index problem = 0; problem < source.count; ++problem) {
      matrices_.push_back(next_matrix(source, random));
      right_.push_back(random_elements(n_, 1, random));
    }
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  BackgroundAnswer solve_on_host(Index problem) const override {
    std::vector<float> a = matrix(problem), x = right(problem);
    check_regular(solve_on_host_in_place(a, x), n_);
    return {std::move(x)};
  }
  double error_of(Index problem, const BackgroundAnswer& answer) const override {
    return scaled_residual<float>(square_view(matrix(problem), n_), column(answer.numbers), column(right(problem)));
  }
  double tolerance() const override { return solvers::largest_scaled_residual; }
  DenseMatrix matrix_of(const BackgroundAnswer& answer) const override {
    return {n_, 1, {answer.numbers.begin(), answer.numbers.end()}};
  }

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const DenseEquations& problems, solvers::Device& device)
        : problems_(problems), solver_(device, problems.n_, 1, elimination_settings) {}
    BackgroundAnswer solve(Index problem) override {
      const Index n = problems_.n_;
      std::vector<float> x(static_cast<std::size_t>(n));
      on_device([&] {
        solver_.solve(square_view(problems_.matrix(problem), n), problems_.column(problems_.right(problem)),
                      {x.data(), n, 1, 1});
      });
      return {std::move(x)};
    }

   private:
    const DenseEquations& problems_;
    solvers::GaussJordan solver_;
  };

  Index solve_on_host_in_place(std::vector<float>& a, std::vector<float>& x) const {
    return glinpack::solve_on_host<float>({a.data(), n_, n_, n_}, {x.data(), n_, 1, n_});
  }
  const std::vector<float>& matrix(Index problem) const { return matrices_[static_cast<std::size_t>(problem)]; }
  const std::vector<float>& right(Index problem) const { return right_[static_cast<std::size_t>(problem)]; }
  RowMajorView<const float> column(const std::vector<float>& elements) const { return {elements.data(), n_, 1, 1}; }

  Index n_;
  std::vector<std::vector<float>> matrices_, right_;
};

}  // namespace

BackgroundOperation plu_operation() {
  return {.name = "plu-packed",
          .summary = "the factors of a matrix of order N",
          .against = "P A v = L (U v) in double precision",
          .make = [](const BackgroundSource& source) -> std::unique_ptr<BackgroundProblems> {
            return std::make_unique<PluFactors>(source);
          },
          .flops = [](Index n) { return 2 * square(n) * static_cast<double>(n) / 3; },
          .numbers = [](Index n) { return 3 * square(n); },
          .obstacle = [](const gl::DeviceDescription& device,
                         Index n) { return solvers::PluPacked::obstacle(device, n, 0, elimination_settings); }};
}

BackgroundOperation gauss_jordan_operation() {
  return {.name = "gauss-jordan",
          .summary = "N equations with one right-hand side",
          .against = "the equations, by their residual",
          .make = [](const BackgroundSource& source) -> std::unique_ptr<BackgroundProblems> {
            return std::make_unique<DenseEquations>(source);
          },
          .flops = [](Index n) { return square(n) * (2 * static_cast<double>(n) / 3 + 2); },
          .numbers = [](Index n) { return square(n) + 2 * static_cast<double>(n); },
          .obstacle = [](const gl::DeviceDescription& device,
                         Index n) { return solvers::GaussJordan::obstacle(device, n, 1, elimination_settings); }};
}

}  // namespace glinpack::app
