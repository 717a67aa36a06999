// A run of the messages alone: what `glinpack network` measures.
#pragma once

#include "global/process_grid.hpp"
#include "global/run.hpp"

namespace glinpack {

/// The messages of one factorisation, timed. Collective over the grid. Throws only when memory cannot be allocated, and
/// then on every rank of the grid alike; `threads` a rank copy what its node shares; an error after that aborts the
/// job, with host, rank and pass. Of the result, what is about a solution stays empty, and so does what is about the
/// backends.
RunResult run_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision, int threads = 1,
                       const ProgressObserver& progress = {});

}  // namespace glinpack
