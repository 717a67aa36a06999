// The oracle: every operation as the loops of its definition. Every element's sum runs in ascending order of k, one
// product at a time, so that results do not depend on how a matrix is cut into blocks or dealt out to processes.
#pragma once

#include <memory>

#include "local/backend.hpp"

namespace glinpack {

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic();

template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(Timeline& timeline);

}  // namespace glinpack
