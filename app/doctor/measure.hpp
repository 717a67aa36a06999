// What takes time: a matrix product on every rank, all at once as in a run.
#pragma once

#include "app/doctor/facts.hpp"
#include "local/measuring.hpp"

namespace glinpack::app::doctor {

/// C <- C - A B by the backend "openblas" with so many threads, and by gl-compute on the device where it is not
/// negative, both in double precision: flops a second. Collective over MPI_COMM_WORLD. Does not throw: why a
/// backend cannot do it is part of the result.
GemmFacts measure_gemm(int threads, int device, const MeasuringOptions& options);

}  // namespace glinpack::app::doctor
