// Everything that `glinpack ceilings` can be told, by its command line or by a TOML file with the same names as keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/option_set.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app {

struct CeilingsOptions {
  std::string backend = "auto";  // openblas: the host alone; gl-compute: a device, too; auto: where it is hardware
  std::optional<int> device;     // as `glinpack devices` counts; without: as plu's rank 0
  std::optional<int> threads;    // without: the cores that this process may use
  std::string shader_dir;
  MeasuringOptions measuring;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

/// Adds the options to an empty `app`. `options` must outlive it.
void define_ceilings_options(CLI::App& app, CeilingsOptions& options);

/// Command line over file over default. `arguments`: what follows `glinpack ceilings`. Throws InputError.
CeilingsOptions parse_ceilings_options(const std::vector<std::string>& arguments);

/// What `glinpack ceilings --help` prints.
std::string ceilings_help();

/// Every option but config, by its name; unset ones null.
nlohmann::json to_json(const CeilingsOptions& options);

}  // namespace glinpack::app
