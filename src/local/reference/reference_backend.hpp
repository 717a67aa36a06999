// The local operations as naive loops: what they are defined to be, and the oracle of every other backend.
//
// Deterministic: each element's products are subtracted one after another in ascending k, as unblocked elimination
// does. Hence factors are the same, bit for bit, whatever the block size and however the matrix is split over
// processes, as long as the same pivots are chosen.
#pragma once

#include <memory>

#include "local/backend.hpp"
#include "local/make_backend.hpp"

namespace glinpack {

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic();

/// Single-threaded but for the moving of data. Uses options.threads alone.
template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(const BackendOptions& options, Timeline& timeline);

}  // namespace glinpack
