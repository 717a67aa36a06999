// The options of `glinpack ceilings`.
#pragma once

#include <optional>
#include <string>

#include "app/options/fields.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app {

struct CeilingsOptions {
  std::string backend = "auto";
  std::optional<int> device;   // an index of `glinpack devices`; unset: the first hardware device
  std::optional<int> threads;  // unset: the cores that this process may use
  std::string shader_dir;
  MeasuringOptions measuring;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable ceilings_table(CeilingsOptions& options);

/// Precedence: command line, file, default. `arguments` follow `glinpack ceilings`. Throws InputError.
CeilingsOptions parse_ceilings_options(const Texts& arguments);

}  // namespace glinpack::app
