// Everything that `glinpack doctor` can be told, by its command line or by a TOML file with the same names as keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/option_set.hpp"

namespace glinpack::app::doctor {

struct DoctorOptions {
  bool quick = false;            // neither network nor gemm nor clocks
  double network_seconds = 10;   // after which pairs are left out
  double gemm_seconds = 0.5;     // for all repetitions of a product together
  std::string backend = "auto";  // as plu would be told
  std::optional<int> device;
  std::optional<int> threads;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

/// Adds the options to an empty `app`. `options` must outlive it.
void define_doctor_options(CLI::App& app, DoctorOptions& options);

/// Command line over file over default. `arguments`: what follows `glinpack doctor`. Throws InputError.
DoctorOptions parse_doctor_options(const std::vector<std::string>& arguments);

/// What `glinpack doctor --help` prints.
std::string doctor_help();

/// Every option but config, by its name; unset ones null. doctor_options_from_json(to_json(x)) gives x back.
nlohmann::json to_json(const DoctorOptions& options);
DoctorOptions doctor_options_from_json(const nlohmann::json& configuration);

}  // namespace glinpack::app::doctor
