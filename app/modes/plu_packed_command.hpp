// `glinpack plu-packed`: packed factors of matrices, and solutions with them, on a device.
#pragma once

#include "app/modes/modes.hpp"
#include "app/modes/plu_packed_options.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_plu_packed(const ModeInvocation& invocation);

}  // namespace glinpack::app
