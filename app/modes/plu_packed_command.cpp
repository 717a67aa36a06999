
#include "app/modes/dense_systems_run.hpp"
#include "app/modes/modes.hpp"
#include "app/modes/plu_packed_options.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/elimination/plu_packed.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationPivoting;
using solvers::EliminationSettings;
using solvers::PluPacked;

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
        const RowMajorView<const float> view{factors.data(), system.n, system.n, system.n};
        return ModeCheck{"P A = L U, by its scaled residual",
                         factors_residual(system.view_a(), view, solver.row_order()), solvers::largest_scaled_residual};
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
  return run_dense_systems(mode, options, to_json(options, plu_packed_table), invocation);
}

}  // namespace glinpack::app
