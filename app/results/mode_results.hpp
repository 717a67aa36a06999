// The results of the standalone modes (docs/solver.schema.json), of `glinpack ceilings` and of `glinpack tune`, as far
// as pages and comparisons need them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/results/json_node.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app {

struct ModeRow {
  std::string variant, settings, size, precision;
  std::int64_t n = 1;
  bool rival = false;                // computed by the host, for the others to be compared with
  std::optional<Measured> seconds;   // of the computation alone; none: there is no result, or it was not timed
  std::optional<Measured> with_all;  // and packing and transfer
  std::optional<double> gflops, speedup, error, tolerance;
  std::string against;  // what the error is against; empty: not checked
  std::string failure;
  bool passed = false;
};

struct ModeResults {
  std::string mode;
  std::string device;  // empty: the host alone
  bool software = false;
  std::string host, processor;
  std::int64_t threads = 1;
  std::vector<ModeRow> rows;
};

/// Throws InputError naming the place, as the others below.
ModeResults read_mode_results(const JsonNode& root);

/// A rate or a time.
struct MeasuredRow {
  std::string what;
  std::string unit;
  Measured value;
  bool passed = true;
};

struct MeasuredGroup {
  std::string name;  // device or host
  std::vector<MeasuredRow> rows;
};

/// Of `glinpack ceilings`: device and host.
std::vector<MeasuredGroup> read_ceilings(const JsonNode& root);
/// Of `glinpack tune`: a group for each precision, a row for each tile.
std::vector<MeasuredGroup> read_tunings(const JsonNode& root);

/// median, least, most, repetitions.
Measured read_measured(const JsonNode& node);

}  // namespace glinpack::app
