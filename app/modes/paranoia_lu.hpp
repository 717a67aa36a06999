// The errors of LU solutions relative to exact ones: part lu of `glinpack paranoia`.
#pragma once

#include <string>

#include "app/modes/mode_run.hpp"
#include "app/modes/paranoia_options.hpp"

namespace glinpack::app {

/// Throws InputError if a matrix of --n does not fit the host's or the device's memory.
void check_lu_sizes(const ParanoiaOptions& options, const ModeMachine& machine);

/// Factorises the same matrix in every precision and order, by gl-compute for the variant compute and by LAPACK for
/// cpu. Both use LAPACK's substitution in the same precision, so that only the factors differ. Adds a record for each.
/// Its parameters are forward_error and backward_error (in epsilon; null if unknown), its check is HPL's residual.
void measure_lu_errors(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine);

}  // namespace glinpack::app
