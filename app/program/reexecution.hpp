// OpenBLAS chooses its kernels when it is loaded. If its choice is poor, the program executes itself again with
// OPENBLAS_CORETYPE set. This happens before MPI starts, when it is still safe.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// Returns if OpenBLAS's choice is right, the user made it, or this is the second execution.
void execute_again_with_better_kernels(char** argv);

/// In the second execution, a line for the report.
std::vector<std::string> reexecution_notes();

/// In the second execution, OpenBLAS's original kernels; empty in the first.
std::string kernels_before_reexecution();

}  // namespace glinpack::app
