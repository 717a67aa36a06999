// P A = L U by the operations of one backend, in one process, without a process grid. The
// distributed algorithm is global/lu/factorize.hpp.
#pragma once

#include <optional>
#include <span>

#include "backend/backend.hpp"

namespace glinpack {

/// Factors a square matrix in place, nb columns at a time: the unit lower triangle L below U, rows of all of it
/// interchanged (LAPACK getrf). Panels are factorised on the device, by tournament pivoting, if the backend can
/// (backend/panels.hpp) and `panels` allows it, otherwise on the host, by partial pivoting. pivots[k], as many as rows,
/// is the 0-based row that was exchanged with row k. Returns the first column whose pivot is exactly zero, if one is;
/// the rest is then unspecified. Throws as Backend::allocate does, std::invalid_argument if the matrix is not square or
/// pivots are missing.
template <class Real>
std::optional<Index> factorize_on_backend(Backend<Real>& backend, DeviceMatrix<Real>& a, Index nb,
                                          std::span<Index> pivots, DeviceUse panels = DeviceUse::always);

}  // namespace glinpack
