// Which steps a factorisation is made of.
#pragma once

#include <memory>

#include "global/factorize.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// RowByRowSteps where the backend has the white paper's algorithm and no row crosses the network, else BlockedSteps.
/// They hold references to all arguments. Not collective; throws when memory cannot be had.
template <class Real>
std::unique_ptr<FactorizationSteps> make_steps(const RunParameters& parameters, const Distribution& distribution,
                                               const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                               DeviceMatrix<Real>& a);

}  // namespace glinpack
