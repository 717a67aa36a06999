#include "app/modes/dense_systems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "app/topology.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

void fill_randomly(std::vector<float>& values, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (float& value : values) value = uniform(random);
}

}  // namespace

std::string DenseSystem::size_text() const {
  const std::string order = std::to_string(n);
  if (wanted == Wanted::inverse) return order + ", inverse";
  if (wanted == Wanted::factors) return order + ", factors";
  return columns == 1 ? order : order + ", rhs " + std::to_string(columns);
}

SystemInputs read_system_inputs(const EliminationOptions& options) {
  if (options.input.empty()) return {};
  const std::int64_t available = view_node().available_memory;
  SystemInputs inputs;
  inputs.a = read_matrix(options.input, available);
  check_single_precision(options.input, inputs.a.elements, inputs.a.columns);
  if (options.input_b.empty()) return inputs;
  inputs.b = read_matrix(options.input_b, available, MatrixShape::any);
  check_single_precision(options.input_b, inputs.b.elements, inputs.b.columns);
  if (inputs.b.rows != inputs.a.rows) {
    throw InputError("--input " + options.input + ", --input-b " + options.input_b + ": A has " +
                     std::to_string(inputs.a.rows) + " rows, but B " + std::to_string(inputs.b.rows) +
                     "; they must be the same");
  }
  return inputs;
}

std::vector<DenseSystem> systems_of(const EliminationOptions& options, const SystemInputs& inputs, Wanted wanted) {
  const std::vector<Index> orders = options.input.empty() ? options.n : std::vector<Index>{inputs.a.rows};
  std::vector<DenseSystem> systems;
  for (const Index n : orders) {
    const Index columns = wanted == Wanted::inverse ? n
                          : options.input_b.empty() ? options.right_hand_sides
                                                    : inputs.b.columns;
    systems.push_back({.n = n, .columns = columns, .wanted = wanted, .a = {}, .b = {}, .x = {}});
  }
  return systems;
}

void fill(DenseSystem& system, const EliminationOptions& options, const SystemInputs& inputs) {
  system.a.resize(static_cast<std::size_t>(system.n * system.n));
  system.b.assign(static_cast<std::size_t>(system.n * system.columns), 0.0F);
  system.x.assign(system.b.size(), 0.0F);
  std::mt19937_64 random(options.seed);
  fill_randomly(system.a, random);
  fill_randomly(system.b, random);
  const auto take = [](const DenseMatrix& from, std::vector<float>& to) {
    std::transform(from.elements.begin(), from.elements.end(), to.begin(),
                   [](double element) { return static_cast<float>(element); });
  };
  if (!options.input.empty()) take(inputs.a, system.a);
  if (!options.input_b.empty()) take(inputs.b, system.b);
  if (system.wanted != Wanted::inverse) return;
  std::fill(system.b.begin(), system.b.end(), 0.0F);
  for (Index i = 0; i < system.n; ++i) system.b[static_cast<std::size_t>(i * system.n + i)] = 1;
}

double flops_of(const DenseSystem& system) {
  const auto n = static_cast<double>(system.n), columns = static_cast<double>(system.columns);
  return system.wanted == Wanted::inverse ? 2 * n * n * n : n * n * (2 * n / 3 + 2 * columns);
}

template <class Real>
std::vector<Real> transposed(const std::vector<Real>& from, Index rows, Index columns) {
  std::vector<Real> to(from.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return to;
}

template std::vector<float> transposed(const std::vector<float>&, Index, Index);
template std::vector<double> transposed(const std::vector<double>&, Index, Index);

template <class Real>
Index solve_by_lapack(const DenseSystem& system, std::vector<Real>& a, std::vector<Real>& b) {
  const RowMajorView<Real> matrix{a.data(), system.n, system.n, system.n};
  if (system.wanted == Wanted::inverse) return invert_on_host<Real>(matrix);
  return solve_on_host<Real>(matrix, {b.data(), system.n, system.columns, system.n});
}

template Index solve_by_lapack(const DenseSystem&, std::vector<float>&, std::vector<float>&);

std::vector<double> exact_solution(const DenseSystem& system) {
  if (system.columns == 0) return {};
  std::vector<double> a(system.a.begin(), system.a.end()), b(system.b.begin(), system.b.end());
  b = transposed(b, system.n, system.columns);
  if (solve_by_lapack<double>(system, a, b) != 0) return {};
  return system.wanted == Wanted::inverse ? a : transposed(b, system.columns, system.n);
}

ModeCheck check_solution(const DenseSystem& system) {
  const RowMajorView<const float> x{system.x.data(), system.n, system.columns, system.columns};
  return {"the equations, by their scaled residual", scaled_residual<float>(system.view_a(), x, system.view_b()),
          solvers::largest_scaled_residual};
}

double relative_error(const DenseSystem& system, const std::vector<double>& exact) {
  double error = 0;
  for (Index j = 0; j < system.columns; ++j) {
    double difference = 0, largest = 0;
    for (Index i = 0; i < system.n; ++i) {
      const auto e = static_cast<std::size_t>(i * system.columns + j);
      const double here = std::abs(static_cast<double>(system.x[e]) - exact[e]);
      if (!std::isfinite(here)) return std::numeric_limits<double>::infinity();
      difference = std::max(difference, here);
      largest = std::max(largest, std::abs(exact[e]));
    }
    if (difference > 0) error = std::max(error, difference / largest);
  }
  return error;
}

}  // namespace glinpack::app
