// `glinpack tune`: tries the tiles of gl-compute's reduce kernel on a device and keeps the fastest for later runs.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "gl/compute/tuning.hpp"

namespace glinpack::app {

struct TuneOptions {
  std::optional<int> device;  // as `glinpack devices` counts; without: as plu's rank 0
  std::vector<Precision> precisions{Precision::single, Precision::double_};
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable tune_table(TuneOptions& options);

/// Tunes, keeps, prints a table and writes JSON where it is asked for. Throws InputError for what the user can mend
/// before anything is tried, std::runtime_error for the rest.
void run_tune_command(const TuneOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

/// A precision's tuning, and the file in which its choice was kept; empty: it could not be.
struct KeptTuning {
  gl::Tuning tuning;
  std::string file;
};
/// The two views. The JSON one is without context: see docs/tune.schema.json.
std::string tuning_text(std::span<const KeptTuning> tunings);
nlohmann::json tuning_json(std::span<const KeptTuning> tunings);

}  // namespace glinpack::app
