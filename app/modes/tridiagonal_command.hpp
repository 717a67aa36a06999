// `glinpack tridiagonal`: many tridiagonal systems side by side (docs/tridiagonal.md).
#pragma once

#include "app/modes/modes.hpp"
#include "app/modes/tridiagonal_options.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_tridiagonal(const ModeInvocation& invocation);

}  // namespace glinpack::app
