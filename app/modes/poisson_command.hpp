// `glinpack poisson`: the Poisson equation on the unit square by conjugate gradients, beside loops on the host.
#pragma once

#include "app/modes/modes.hpp"
#include "app/modes/poisson_options.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_poisson(const ModeInvocation& invocation);

}  // namespace glinpack::app
