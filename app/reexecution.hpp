// OpenBLAS chooses its kernels when it is loaded. Where its choice is poor, the program executes itself once more with
// OPENBLAS_CORETYPE set: before MPI starts, while that is still harmless.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// Returns where OpenBLAS's choice is right, the user made it, or this is the second execution already.
void execute_again_with_better_kernels(char** argv);

/// In the second execution: a line for the report that says so.
std::vector<std::string> reexecution_notes();

/// In the second execution: the kernels that OpenBLAS had chosen; empty in the first.
std::string kernels_before_reexecution();

}  // namespace glinpack::app
