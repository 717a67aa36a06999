// Runs of the modes gauss-jordan and plu-packed: LAPACK first, then every variant on the device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/modes/dense_systems.hpp"
#include "app/modes/mode_run.hpp"

namespace glinpack::app {

/// Measures a solver and checks X by its residual. It reports the distance to the solution in double precision, but
/// does not check it: that depends on the condition of A.
class DenseSystemsRun {
 public:
  DenseSystemsRun(ModeRun& run, DenseSystem& system) : run_(run), system_(system), exact_(exact_solution(system)) {}

  void measure_rival();
  /// `once` computes on the device and, if requested, downloads X. `judge`: check of the factors; empty: check X.
  void measure(const solvers::EliminationSettings& settings, solvers::StageClock& clock,
               const std::function<void()>& once, const std::function<ModeCheck()>& judge = {});

 private:
  ModeRecord record_of(std::string variant) const;
  void add(ModeRecord record);

  ModeRun& run_;
  DenseSystem& system_;
  std::vector<double> exact_;  // X; empty if unknown
};

/// The description of one mode.
struct DenseSystemsMode {
  std::string name;
  Wanted wanted = Wanted::solutions;
  std::vector<solvers::EliminationSettings> settings = {};  // measured on a device
  /// Why the device cannot hold the system; empty if it can.
  std::function<std::string(const gl::DeviceDescription&, const DenseSystem&, const solvers::EliminationSettings&)>
      obstacle = {};
  /// Calls DenseSystemsRun::measure.
  std::function<void(DenseSystemsRun&, DenseSystem&, solvers::Device&, const solvers::EliminationSettings&)> measure =
      {};
};

/// Runs the mode. `configuration`: every option with its value. Returns the same as Mode::run.
int run_dense_systems(const DenseSystemsMode& mode, const EliminationOptions& options, nlohmann::json configuration,
                      const ModeInvocation& invocation);

}  // namespace glinpack::app
