// `glinpack lu-methods`: LU without pivoting by the methods of Ino et al. 2005, and by compute shaders.
#pragma once

#include "app/modes/lu_methods_options.hpp"
#include "app/modes/modes.hpp"

namespace glinpack::app {

/// As Mode::run.
int run_lu_methods(const ModeInvocation& invocation);

}  // namespace glinpack::app
