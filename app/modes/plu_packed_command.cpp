#include "app/modes/plu_packed_command.hpp"

#include <algorithm>
#include <cmath>

#include "app/modes/dense_systems_run.hpp"
#include "local/openblas/host_solvers.hpp"
#include "local/solvers/plu_packed.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationPivoting;
using solvers::EliminationSettings;
using solvers::PluPacked;

/// || P A - L U || / (eps || A || n), the norms being maxima of row sums, in double precision: the scaled residual of
/// the factors. Infinite where a factor is not finite.
double factors_residual(const DenseSystem& system, const std::vector<float>& factors, const std::vector<Index>& order) {
  const Index n = system.n;
  const auto at = [n](Index i, Index j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<double> lower(factors.size()), upper(factors.size()), product(factors.size());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) (j < i ? lower : upper)[at(i, j)] = static_cast<double>(factors[at(i, j)]);
    lower[at(i, i)] = 1;
  }
  multiply_on_host<double>({lower.data(), n, n, n}, {upper.data(), n, n, n}, {product.data(), n, n, n});
  double difference_norm = 0, norm = 0;
  for (Index i = 0; i < n; ++i) {
    double difference = 0, sum = 0;
    for (Index j = 0; j < n; ++j) {
      const auto element = static_cast<double>(system.a[at(order[static_cast<std::size_t>(i)], j)]);
      difference += std::abs(element - product[at(i, j)]);
      sum += std::abs(element);
    }
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    difference_norm = std::max(difference_norm, difference);
    norm = std::max(norm, sum);
  }
  return difference_norm / (epsilon_of(Precision::single) * norm * static_cast<double>(n));
}

void measure(DenseSystemsRun& run, DenseSystem& system, solvers::Device& device, const EliminationSettings& settings) {
  PluPacked solver(device, system.n, system.columns, settings);
  if (system.wanted == Wanted::solutions) {
    run.measure(settings, device.clock(), [&] { solver.solve(system.view_a(), system.view_b(), system.view_x()); });
    return;
  }
  std::vector<float> factors(system.a.size());
  run.measure(
      settings, device.clock(),
      [&] {
        solver.load(system.view_a());
        solver.factorize();
        solver.store_factors({factors.data(), system.n, system.n, system.n});
      },
      [&] {
        return ModeCheck{"P A = L U, by its scaled residual", factors_residual(system, factors, solver.row_order()),
                         solvers::largest_scaled_residual};
      });
}

}  // namespace

int run_plu_packed(const ModeInvocation& invocation) {
  const PluPackedOptions options = parse_plu_packed_options(invocation.arguments);
  const bool factors_alone = options.right_hand_sides == 0 && options.input_b.empty();
  const DenseSystemsMode mode{
      .name = "plu-packed",
      .wanted = factors_alone ? Wanted::factors : Wanted::solutions,
      .settings = settings_of(options, EliminationPivoting::partial),
      .obstacle =
          [](const gl::DeviceDescription& device, const DenseSystem& system, const EliminationSettings& settings) {
            return PluPacked::obstacle(device, system.n, system.columns, settings);
          },
      .measure = measure};
  return run_dense_systems(mode, options, to_json(options), invocation);
}

}  // namespace glinpack::app
