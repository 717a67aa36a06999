// `glinpack tune`: measures the tiles of the update's kernel on a device and saves the fastest for later runs.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "app/program/program_context.hpp"
#include "backend/device_catalog.hpp"

namespace glinpack::app {

struct TuneOptions {
  std::string backend = "gl-compute";
  std::optional<int> device;  // an index of `glinpack devices`; unset: the device of plu's rank 0
  std::vector<Precision> precisions{Precision::single, Precision::double_};
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable tune_table(TuneOptions& options);

void run_tune_command(const TuneOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

/// The tuning of one precision, and the file with its choice; empty if it could not be saved.
struct KeptTuning {
  Tuning tuning;
  std::string file;
};

std::string tuning_text(std::span<const KeptTuning> tunings);
nlohmann::json tuning_json(std::span<const KeptTuning> tunings);

}  // namespace glinpack::app
