// LU with partial pivoting of a tall panel by several threads, each of which keeps a slab of its rows in its own cache.
#pragma once

#include <optional>
#include <span>

#include "base/matrix_view.hpp"
#include "base/threads.hpp"

namespace glinpack {

/// Recursive (slab_recursion.hpp), with narrow blocks of columns one by one. One barrier per column: each thread posts
/// its candidate with a copy of the candidate's row, and the owner of the current row posts a copy of that row. After
/// the barrier, each thread exchanges rows in its own slab only.
template <class Real>
class SlabPanel {
 public:
  /// The team must outlive it.
  explicit SlabPanel(ThreadTeam& team) : team_(team) {}

  /// Whether the panel is tall enough for slabs to be faster than getrf.
  bool pays(Index rows, Index columns) const;

  /// As PanelArithmetic::factorize_partial. BLAS must be set to one thread.
  std::optional<Index> factorize(ColumnMajorView<Real> a, std::span<Index> pivots);

 private:
  class Factorization;
  ThreadTeam& team_;
};

}  // namespace glinpack
