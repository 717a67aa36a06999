// LU with partial pivoting of a tall panel by several threads, each of which keeps a slab of its rows in its own cache.
#pragma once

#include <optional>
#include <span>

#include "local/matrix_view.hpp"
#include "local/thread_team.hpp"

namespace glinpack {

/// Recursive (slab_recursion.hpp), narrow blocks of columns one by one. One barrier a column: with its candidate each
/// thread posts a copy of the candidate's row, and the thread that has the current row a copy of that, so that after
/// the barrier everyone exchanges rows in its own slab alone.
template <class Real>
class SlabPanel {
 public:
  /// The team must outlive it.
  explicit SlabPanel(ThreadTeam& team) : team_(team) {}

  /// Whether a panel is tall enough for slabs to pay; getrf is as good elsewhere.
  bool pays(Index rows, Index columns) const;

  /// As PanelArithmetic::pivot. BLAS must be set to one thread.
  std::optional<Index> factorize(ColumnMajorView<Real> a, std::span<Index> pivots);

 private:
  class Factorization;
  ThreadTeam& team_;
};

}  // namespace glinpack
