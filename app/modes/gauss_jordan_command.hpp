// `glinpack gauss-jordan`: systems solved, and matrices inverted, by Gauss-Jordan elimination on a device.
#pragma once

#include "app/modes/gauss_jordan_options.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_gauss_jordan(const ModeInvocation& invocation);

}  // namespace glinpack::app
