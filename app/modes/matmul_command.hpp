// `glinpack matmul`: matrix products on a device, every variant beside OpenBLAS.
#pragma once

#include "app/modes/matmul_options.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_matmul(const ModeInvocation& invocation);

}  // namespace glinpack::app
