// [A | b] as it was before it was factorised: what residuals are computed from. It is not stored for that; its source
// makes it again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "global/matrix_source.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// A rank's sums over its part of [A | b].
struct LocalSums {
  std::vector<double> residual;     // b - A x, local rows
  std::vector<double> row_sums;     // of |a_ij|, local rows
  std::vector<double> column_sums;  // of |a_ij|, local columns
  double largest_b = 0;
  double largest_a = 0;

  LocalSums(Index rows, Index columns)
      : residual(static_cast<std::size_t>(rows)),
        row_sums(static_cast<std::size_t>(rows)),
        column_sums(static_cast<std::size_t>(columns)) {}
};

/// One rank's part. x: one element a local column of A. All in double precision; what is missing are the sums over the
/// process row, of columns over the process column. Not collective.
class OriginalMatrix {
 public:
  virtual ~OriginalMatrix() = default;
  /// beta b - A x, local rows.
  virtual std::vector<double> residual(std::span<const double> x, double beta) = 0;
  /// b - A x, and what the norms are made of.
  virtual LocalSums sums(std::span<const double> x) = 0;
};

/// Made again row by row, by so many threads. `elements`: what they are rounded to, single or double precision. What is
/// given by reference must outlive it.
std::unique_ptr<OriginalMatrix> original_matrix_on_host(const Distribution& distribution, GridPosition at,
                                                        const MatrixSource& source, Precision elements, int threads,
                                                        Timeline& timeline);

/// HPL's matrix made again by the backend's device, as the above; null where the source is another, or the backend has
/// no device for it. Throws as Backend::allocate does.
template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix_on_device(const Distribution& distribution, GridPosition at,
                                                          const MatrixSource& source, Precision elements,
                                                          Backend<Real>& backend);

}  // namespace glinpack
