// `glinpack paranoia`: the errors of arithmetic and of LU on a device and on the processor (docs/paranoia.md).
#pragma once

#include "app/modes/modes.hpp"
#include "app/modes/paranoia_options.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_paranoia(const ModeInvocation& invocation);

}  // namespace glinpack::app
