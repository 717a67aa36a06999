// What the standalone modes measure: a record for every variant of a computation on every size.
#pragma once

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backend/measuring.hpp"
#include "backend/precision.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::app {

/// Seconds of the repetitions.
struct MeasuredStages {
  Measured compute;                                         // without packing and transfer, as the papers count
  Measured with_transfer;                                   // and upload and download
  Measured with_all;                                        // and packing and unpacking
  std::array<Measured, solvers::all_stages.size()> stages;  // each alone
  std::vector<solvers::StageInterval> intervals;            // of the last repetition

  const Measured& of(solvers::Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
};

/// A comparison that judges a result.
struct ModeCheck {
  std::string against;                                      // "OpenBLAS gemm"
  double error = std::numeric_limits<double>::quiet_NaN();  // in the unit of `tolerance`
  double tolerance = 0;

  bool passed() const { return error <= tolerance; }  // a NaN does not
};

struct ModeRecord {
  std::string variant;        // "multi-pass"
  std::string settings = {};  // what else tells it from others, for people: "2x2, pass 1"; empty: nothing
  std::string size;           // for people: "257", "33x21x18"
  Index n = 0;                // what fits and plots are over
  Precision precision = Precision::single;
  nlohmann::json parameters = nlohmann::json::object();  // the mode's own: packing, pass length, extents ...
  bool is_rival = false;  // computed by the host, for the others of the same size to be compared with
  MeasuredStages times = {};
  double flops = 0;  // 0: not counted
  std::optional<ModeCheck> check = {};
  std::string failure = {};  // why there is no result (a singular matrix ...); then nothing was checked

  // by ModeRun: seconds of the rival over those of this record
  std::optional<double> speedup = {};           // of the computation alone
  std::optional<double> speedup_with_all = {};  // with packing and transfer

  bool passed() const { return failure.empty() && (!check || check->passed()); }
  /// Whether times were measured.
  bool timed() const { return failure.empty() && times.compute.repetitions > 0; }
  double gflops() const { return flops > 0 && times.compute.median > 0 ? flops / times.compute.median * 1e-9 : 0; }
  /// The same in all sizes.
  std::string series() const { return settings.empty() ? variant : variant + " " + settings; }
};

}  // namespace glinpack::app
