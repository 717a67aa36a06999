// A strip of the elliptic test problem in host memory, by loops: what devices are compared with.
#pragma once

#include <memory>

#include "local/poisson_strip.hpp"

namespace glinpack {

/// By so many threads, each taking rows of its own. The sums are added up row by row, so that results do not depend on
/// the number of threads. Throws std::bad_alloc, and std::invalid_argument for multigrid on less than the square.
template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_host_poisson_strip(
    const PoissonExtents& extents, int threads, PoissonPreconditioner preconditioner = PoissonPreconditioner::none);

}  // namespace glinpack
