// The white paper's local algorithm (section 3.2), an optional interface of a backend in addition to the blocked
// operations of backend.hpp. The factors arrive one row and one column at a time. Rows are exchanged during their
// reduction, and data for other ranks is downloaded during it.
//
// Panels are passed transposed, as everywhere: row k of `panel_transposed` is column k of the panel. Output host blocks
// are valid when a function returns. Input host blocks may be changed then, except those of reduce_rows.
#pragma once

#include <optional>
#include <span>

#include "backend/device_memory.hpp"

namespace glinpack {

template <class Real>
class RowByRowAlgorithm {
 public:
  virtual ~RowByRowAlgorithm() = default;

  /// 3.2.1, pivot. `a`: the rest of the pivot rank's matrix, the panel's k columns (k = pivots.size(), at most a.rows)
  /// followed by the trailing ones. P A = L U of the panel, with its interchanges and eliminations applied to the
  /// trailing columns: rows 0 ... k-1 of `a` become U, those below are reduced.
  /// `panel_transposed` (k x a.rows) <- L \ U of the panel; `u` (k x trailing columns) <- U12; pivots[j] <- the row of
  /// `a` that was exchanged with row j. Returns the first column whose pivot is exactly zero, if any; everything else
  /// is then unspecified.
  virtual std::optional<Index> pivot_rows(DeviceBlock<Real> a, HostBlock<Real> panel_transposed, HostBlock<Real> u,
                                          std::span<Index> pivots) = 0;

  /// 3.2.2, normalize. `a`: the trailing columns of the pivot's block row and of this rank's rows below.
  /// `panel_transposed` and `pivots` as pivot_rows left them. Interchanges and eliminations applied to `a`; `u` (k x
  /// a.columns) <- U12.
  virtual void normalize_rows(HostBlock<Real> panel_transposed, std::span<const Index> pivots, DeviceBlock<Real> a,
                              HostBlock<Real> u) = 0;

  /// 3.2.3, eliminate. A21 <- A21 U11^-1, the multipliers; also into `panel_transposed` (k x a21.rows).
  virtual void eliminate_rows(ColumnMajorView<const Real> u11, DeviceBlock<Real> a21,
                              HostBlock<Real> panel_transposed) = 0;

  /// 3.2.4, reduce. A22 <- A22 - L21 U12, one row of U12 and one column of L21 at a time. The host blocks must not
  /// change before the fence has been waited for.
  virtual Fence reduce_rows(HostBlock<Real> l21_transposed, HostBlock<Real> u12, DeviceBlock<Real> a22) = 0;
};

}  // namespace glinpack
