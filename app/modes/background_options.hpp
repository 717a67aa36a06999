// The options of `glinpack background` (docs/papers/coprocessor.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/modes/background_problems.hpp"
#include "app/modes/mode_options.hpp"

namespace glinpack::app {

struct BackgroundOptions : ModeOptions {
  Index systems = 30;  // as in the paper's figure 5
  const BackgroundOperation* operation = &background_operations().front();
  std::optional<double> ratio;  // unset: measured, and adjusted during the run
};

OptionTable background_table(BackgroundOptions& options);
/// Precedence: command line, file, default. Throws InputError.
BackgroundOptions parse_background_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
