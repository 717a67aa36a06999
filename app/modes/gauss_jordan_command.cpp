
#include "app/modes/dense_systems_run.hpp"
#include "app/modes/gauss_jordan_options.hpp"
#include "app/modes/modes.hpp"
#include "solvers/elimination/gauss_jordan.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationPivoting;
using solvers::EliminationSettings;
using solvers::GaussJordan;

std::vector<EliminationSettings> settings_of(const GaussJordanOptions& options) {
  std::vector<EliminationSettings> all;
  for (const EliminationPivoting pivoting : options.pivoting) {
    for (const EliminationSettings& settings : settings_of(options, pivoting)) all.push_back(settings);
  }
  return all;
}

}  // namespace

int run_gauss_jordan(const ModeInvocation& invocation) {
  const GaussJordanOptions options = parse_gauss_jordan_options(invocation.arguments);
  const DenseSystemsMode mode{
      .name = "gauss-jordan",
      .wanted = options.inverse ? Wanted::inverse : Wanted::solutions,
      .settings = settings_of(options),
      .obstacle =
          [](const gl::DeviceDescription& device, const DenseSystem& system, const EliminationSettings& settings) {
            return GaussJordan::obstacle(device, system.n, system.columns, settings);
          },
      .measure =
          [](DenseSystemsRun& run, DenseSystem& system, solvers::Device& device, const EliminationSettings& settings) {
            GaussJordan solver(device, system.n, system.columns, settings);
            run.measure(settings, device.clock(),
                        [&] { solver.solve(system.view_a(), system.view_b(), system.view_x()); });
          }};
  return run_dense_systems(mode, options, to_json(options, gauss_jordan_table), invocation);
}

}  // namespace glinpack::app
