// The measurements of standalone modes: one record per variant and size.
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

/// Seconds over the repetitions.
struct MeasuredStages {
  Measured compute;                                         // without packing and transfer, as in the papers
  Measured with_transfer;                                   // including upload and download
  Measured with_all;                                        // including packing and unpacking
  std::array<Measured, solvers::all_stages.size()> stages;  // each separately
  std::vector<solvers::StageInterval> intervals;            // of the last repetition

  const Measured& of(solvers::Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
};

/// The check of a result.
struct ModeCheck {
  std::string against;                                      // "OpenBLAS gemm"
  double error = std::numeric_limits<double>::quiet_NaN();  // in the unit of `tolerance`
  double tolerance = 0;

  bool passed() const { return error <= tolerance; }  // false for NaN
};

struct ModeRecord {
  std::string variant;        // "multi-pass"
  std::string settings = {};  // what else tells it from others, for people: "2x2, pass 1"; empty: nothing
  std::string size;           // for people: "257", "33x21x18"
  Index n = 0;                // the abscissa of fits and plots
  Precision precision = Precision::single;
  nlohmann::json parameters = nlohmann::json::object();  // specific to the mode: packing, pass length, extents ...
  bool is_rival = false;  // computed by the host, as reference for records of the same size
  MeasuredStages times = {};
  double flops = 0;  // 0: unknown
  std::optional<ModeCheck> check = {};
  std::string failure = {};  // why there is no result (a singular matrix ...); then the check is skipped

  // set by ModeRun: the rival's seconds divided by this record's
  std::optional<double> speedup = {};           // without packing and transfer
  std::optional<double> speedup_with_all = {};  // with packing and transfer

  bool passed() const { return failure.empty() && (!check || check->passed()); }
  /// True if times were measured.
  bool timed() const { return failure.empty() && times.compute.repetitions > 0; }
  double gflops() const { return flops > 0 && times.compute.median > 0 ? flops / times.compute.median * 1e-9 : 0; }
  /// The series of the record: the same for all sizes.
  std::string series() const { return settings.empty() ? variant : variant + " " + settings; }
};

}  // namespace glinpack::app
