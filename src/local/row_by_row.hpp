// The white paper's local algorithm (section 3.2) as a backend may offer it besides the blocked operations of
// backend.hpp: the factors come one row and one column at a time, rows change places while they are reduced, and what
// other ranks need arrives in host memory meanwhile.
//
// Panels are handed over transposed, as everywhere: row k of `panel_transposed` is column k of the panel. Host blocks
// that come out are valid when a function returns; ones that go in may be changed then, but for reduce_rows.
#pragma once

#include <optional>
#include <span>

#include "local/backend.hpp"

namespace glinpack {

template <class Real>
class RowByRowAlgorithm {
 public:
  virtual ~RowByRowAlgorithm() = default;

  /// 3.2.1, pivot. `a`: all that is left on the pivot rank, the panel's k columns (k = pivots.size(), at most a.rows)
  /// and then the trailing ones. P A = L U of the panel, its interchanges and eliminations applied to the trailing
  /// columns too: rows 0 ... k-1 of `a` become U, those below are reduced. `panel_transposed` (k x a.rows) <- L \ U of
  /// the panel; `u` (k x trailing columns) <- U12; pivots[j] <- the row of `a` that changed places with row j. Returns
  /// the first column whose pivot is exactly zero, if one is; all else is then unspecified.
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
