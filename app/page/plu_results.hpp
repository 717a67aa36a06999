// Reads the runs of `glinpack plu --json` (docs/result.schema.json), as far as pages and comparisons need them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/record/breakdown.hpp"
#include "app/record/json.hpp"
#include "app/compare/comparison.hpp"

namespace glinpack::app {

/// Times that add up to `seconds`, except waiting, which is part of idle.
struct TimeParts {
  double seconds = 0;
  double computing = 0;
  double transfer = 0;  // without computation
  double network = 0;   // without computation or transfers
  double idle = 0;
  double waiting = 0;
};

/// Means over the ranks that have the role, or one rank's.
struct RoleShare {
  std::string role;  // "none": outside the passes
  std::int64_t ranks = 1;
  TimeParts time;
};

struct PhaseShare {
  std::string role, phase, lane;
  Spread seconds;
  double bytes = 0;
  std::optional<double> gflops, gigabytes_per_second;
};

struct RankShare {
  std::int64_t rank = 0, row = 0, column = 0, threads = 1;
  std::string host, backend, device, driver, blas, kernels;
  bool software_gl = false;
  std::vector<RoleShare> roles;  // empty in older files
};

/// Means over ranks.
struct RunTimes {
  double computing = 0;
  double transfer = 0;
  double network_exposed = 0;
  double network_hidden = 0;
  double waiting = 0;
  double network_bytes = 0;
  double transfer_bytes = 0;
  std::vector<RoleShare> roles;
  std::vector<PhaseShare> phases;
};

/// Energy of the timed section, from the readable sensors (docs/reading-a-report.md).
struct RunEnergy {
  double joules = 0;
  std::optional<double> average_watts, peak_watts, gflops_per_watt;
  std::string scope;   // the sensors that are included
  bool rough = false;  // the run is not much longer than the counters' steps
};

/// The model's prediction (docs/planning.md).
struct RunPrediction {
  double expected_seconds = 0, measured_seconds = 0, ratio = 0;  // measured / expected
  std::string part;                                              // "run" or "factorization"
  std::string from;                                              // "earlier runs" or "first passes", so many:
  std::int64_t runs = 0, passes = 0;
};

struct PluRun {
  std::int64_t n = 1, nb = 1, p = 1, q = 1;
  Parameters parameters;  // all parameters of the computation; n, nb and grid first
  std::string variant;    // HPL's variant code; empty if the file has none
  std::string backend, precision, pivoting;
  std::string hardware;  // "software" where a rank computes with software OpenGL, else empty
  std::int64_t repeat = 0;
  double seconds = 0;
  double factor_seconds = 0, solve_seconds = 0;
  double start_time = 0;  // since 1970
  std::optional<double> gflops, residual;
  Verdict verdict = Verdict::unchecked;
  std::string failure;  // the reason if it failed
  std::optional<RunTimes> times;
  std::optional<RunEnergy> energy;          // empty if no sensor was read, and in older files
  std::optional<RunPrediction> prediction;  // empty if there was no prediction, and in older files
  std::vector<RankShare> ranks;

  /// The value of a parameter; empty if there is no such name.
  std::string parameter(const std::string& name) const;
};

/// `root`: the document. Throws InputError that names the location.
std::vector<PluRun> read_plu_runs(const JsonNode& root);

}  // namespace glinpack::app
