// Which steps a factorisation is made of.
#pragma once

#include <memory>

#include "global/factorize.hpp"
#include "global/node_windows.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// RowByRowSteps where the backend has the white paper's algorithm and no row crosses the network, else BlockedSteps.
/// They hold references to all arguments. `windows`: may be null, as in PassMessages. Not collective; throws when
/// memory cannot be had.
template <class Real>
std::unique_ptr<FactorizationSteps> make_steps(const RunParameters& parameters, const Distribution& distribution,
                                               const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                               DeviceMatrix<Real>& a, NodeWindows* windows = nullptr);

}  // namespace glinpack
