// How far LU's solutions are from exact ones: part lu of `glinpack paranoia`.
#pragma once

#include <string>

#include "app/modes/mode_run.hpp"
#include "app/modes/paranoia_options.hpp"

namespace glinpack::app {

/// Throws InputError where a matrix of --n does not fit the host's or the device's memory.
void check_lu_sizes(const ParanoiaOptions& options, const ModeMachine& machine);

/// The same matrix factorised by gl-compute, where compute is among the variants, and by LAPACK, where cpu is, in every
/// precision and order. The substitution is LAPACK's in the same precision for both, so that what differs is the
/// factors. Keeps a record for each, with forward_error and backward_error (in epsilon; null: unknown) as parameters
/// and HPL's residual as check.
void measure_lu_errors(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine);

}  // namespace glinpack::app
