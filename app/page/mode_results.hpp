// Reads results of the standalone modes (docs/solver.schema.json), of `glinpack ceilings` and of `glinpack tune`, as
// far as pages and comparisons need them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/record/json.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app {

struct ModeRow {
  std::string variant, settings, size, precision;
  std::int64_t n = 1;
  bool rival = false;                // computed by the host, as reference for the others
  std::optional<Measured> seconds;   // without transfers; empty: no result, or not timed
  std::optional<Measured> with_all;  // including packing and transfer
  std::optional<double> gflops, speedup, error, tolerance;
  std::string against;  // reference of the error; empty: not checked
  std::string failure;
  bool passed = false;
};

struct ModeResults {
  std::string mode;
  std::string device;  // empty: only the host
  bool software = false;
  std::string host, processor;
  std::int64_t threads = 1;
  std::vector<ModeRow> rows;
};

/// Throws InputError that names the location, like the functions below.
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

/// Reads `glinpack ceilings`: device and host.
std::vector<MeasuredGroup> read_ceilings(const JsonNode& root);
/// Reads `glinpack tune`: one group per precision, one row per tile.
std::vector<MeasuredGroup> read_tunings(const JsonNode& root);

/// Reads median, least, most and repetitions.
Measured read_measured(const JsonNode& node);

}  // namespace glinpack::app
