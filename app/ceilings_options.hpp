// The options of `glinpack ceilings`.
#pragma once

#include <optional>
#include <string>

#include "app/options/fields.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app {

struct CeilingsOptions {
  std::string backend = "auto";
  std::optional<int> device;   // as `glinpack devices` counts; without: the first hardware one
  std::optional<int> threads;  // without: the cores that this process may use
  std::string shader_dir;
  MeasuringOptions measuring;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable ceilings_table(CeilingsOptions& options);

/// Command line over file over default. `arguments`: those after `glinpack ceilings`. Throws InputError.
CeilingsOptions parse_ceilings_options(const Texts& arguments);

}  // namespace glinpack::app
