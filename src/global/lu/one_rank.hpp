// P A = L U of a matrix that one process has whole, without MPI.
#pragma once

#include <optional>
#include <span>

#include "lu/parameters.hpp"

namespace glinpack {

/// LAPACK's getrf by the driver of all runs (factorize.hpp) on a 1x1 grid. Factors a square matrix in place: the unit
/// lower triangle L below U, rows of all of it interchanged. pivots[k], as many as rows, is the 0-based row that was
/// exchanged with row k. `parameters`: NB, the pivoting, where panels are factorised; N is the matrix's. Returns the
/// first column whose pivot is exactly zero, if one is; the rest is then unspecified. Waits for the device. Throws as
/// Backend::allocate and make_lu() do, std::invalid_argument if the matrix is not square or pivots are missing.
template <class Real>
std::optional<Index> factorize_on_one_rank(Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a,
                                           RunParameters parameters, std::span<Index> pivots);

}  // namespace glinpack
