// Background work: C = A B.
#include "app/modes/background_kinds.hpp"
#include "app/modes/background_matrices.hpp"
#include "backend/timeline.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

namespace {

solvers::MatmulSettings product_settings() { return {.variant = solvers::MatmulVariant::compute}; }

double largest_magnitude(const std::vector<float>& elements) {
  float largest = 0;
  for (const float element : elements) largest = std::max(largest, std::abs(element));
  return static_cast<double>(largest);
}

class Products final : public BackgroundProblems {
 public:
  explicit Products(const BackgroundSource& source) : n_(source.n) {
    std::mt19937_64 random(source.seed);
    for (Index problem = 0; problem < source.count; ++problem) {
      left_.push_back(next_matrix(source, random));
      right_.push_back(random_elements(n_, n_, random));
    }
    probe_ = random_probe(n_, random);
  }

  std::unique_ptr<OnDevice> prepare(solvers::Device& device) const override {
    return std::make_unique<ByDevice>(*this, device);
  }
  BackgroundAnswer solve_on_host(Index problem) const override {
    std::vector<float> product(static_cast<std::size_t>(n_ * n_));
    multiply_on_host<float>(square_view(left(problem), n_), square_view(right(problem), n_),
                            {product.data(), n_, n_, n_});
    return {std::move(product)};
  }
  // Compares C v with A (B v), so that all elements take part. A sum of n elements of C has n times their tolerance,
  // relative to the largest possible product of elements.
  double error_of(Index problem, const BackgroundAnswer& answer) const override {
    const std::vector<double> expected = times_vector(left(problem), n_, times_vector(right(problem), n_, probe_));
    const double difference = largest_difference(expected, times_vector(answer.numbers, n_, probe_));
    if (difference == 0) return 0;
    return difference /
           (largest_magnitude(left(problem)) * largest_magnitude(right(problem)) * static_cast<double>(n_));
  }
  double tolerance() const override { return glinpack::tolerance<float>(n_); }
  DenseMatrix matrix_of(const BackgroundAnswer& answer) const override {
    return {n_, n_, {answer.numbers.begin(), answer.numbers.end()}};
  }

 private:
  class ByDevice final : public OnDevice {
   public:
    ByDevice(const Products& problems, solvers::Device& device)
        : problems_(problems),
          product_(solvers::make_matrix_product<float>(device, {problems.n_, problems.n_, problems.n_}, product_settings())) {}
    BackgroundAnswer solve(Index problem) override {
      const Index n = problems_.n_;
      product_->load(square_view(problems_.left(problem), n), square_view(problems_.right(problem), n));
      product_->compute();
      std::vector<float> product(static_cast<std::size_t>(n * n));
      product_->store({product.data(), n, n, n});
      return {std::move(product)};
    }

   private:
    const Products& problems_;
    std::unique_ptr<solvers::MatrixProduct<float>> product_;
  };

  const std::vector<float>& left(Index problem) const { return left_[static_cast<std::size_t>(problem)]; }
  const std::vector<float>& right(Index problem) const { return right_[static_cast<std::size_t>(problem)]; }

  Index n_;
  std::vector<std::vector<float>> left_, right_;
  std::vector<double> probe_;
};

}  // namespace

BackgroundOperation product_operation() {
  return {.name = "matmul",
          .summary = "a product of two matrices of order N",
          .against = "A (B v) in double precision",
          .make = [](const BackgroundSource& source) -> std::unique_ptr<BackgroundProblems> {
            return std::make_unique<Products>(source);
          },
          .flops = [](Index n) { return product_flops(n, n, n); },
          .numbers = [](Index n) { return 3 * square(n); },
          .obstacle =
              [](const gl::DeviceDescription& device, Index n) {
                return matmul_obstacle(device, {n, n, n}, product_settings(), Precision::single);
              }};
}

}  // namespace glinpack::app
