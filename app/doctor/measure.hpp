// Timed measurements: a matrix product on every rank, on all ranks at the same time, as in a run.
#pragma once

#include "app/doctor/facts.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app::doctor {

/// Measures C <- C - A B in double precision, in flops a second. On the host, it uses the backend that "auto" selects
/// for `threads` threads; on the device, if `device` >= 0, the one for devices. Collective over MPI_COMM_WORLD. Does
/// not throw: the result holds a backend's error.
GemmFacts measure_gemm(int threads, int device, const MeasuringOptions& options);

}  // namespace glinpack::app::doctor
