// What takes time: a matrix product on every rank, all at once as in a run.
#pragma once

#include "app/doctor/facts.hpp"
#include "backend/measuring.hpp"

namespace glinpack::app::doctor {

/// C <- C - A B in double precision, in flops a second: by the backend that "auto" takes on hosts with so many threads,
/// and by the one that it takes on devices if `device` is not negative. Collective over MPI_COMM_WORLD. Does not throw:
/// why a backend cannot do it is part of the result.
GemmFacts measure_gemm(int threads, int device, const MeasuringOptions& options);

}  // namespace glinpack::app::doctor
