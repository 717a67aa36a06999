// `glinpack background`: systems split between the processor and a device (docs/background.md).
#pragma once

#include "app/modes/background_options.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_background(const ModeInvocation& invocation);

}  // namespace glinpack::app
