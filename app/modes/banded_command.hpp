// `glinpack banded`: a matrix of few diagonals times a vector, beside compressed rows on the host.
#pragma once

#include "app/modes/banded_options.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_banded(const ModeInvocation& invocation);

}  // namespace glinpack::app
