// LU with partial pivoting of a tall panel by several threads, each of which keeps a slab of its rows in its own cache.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "base/matrix_view.hpp"
#include "base/threads.hpp"
#include "openblas/blas.hpp"

namespace glinpack {

// The common part of factorisations of a tall panel by several threads, each of which keeps a slab of its rows in its
// own cache: recursive and right-looking, as LAPACK's getrf2, BLAS-3 between blocks of columns.

/// A thread's rows.
struct Slab {
  int thread;
  Index begin, end;

  bool holds(Index row) const { return begin <= row && row < end; }
  Index begin_from(Index row) const { return std::max(begin, row); }
  Index size_from(Index row) const { return std::max<Index>(0, end - begin_from(row)); }
};

template <class Real>
class SlabRecursion {
 public:
  SlabRecursion(ColumnMajorView<Real> a, int threads) : a(a), threads(threads), barrier(threads) {}

  Index slab_rows() const { return divide_up(a.rows, threads); }
  Slab slab_of(int thread) const {
    return {thread, std::min(a.rows, thread * slab_rows()), std::min(a.rows, (thread + 1) * slab_rows())};
  }

  /// Every thread calls it. `factor_block(first, width)` computes P, L and U of up to `block` columns, interchanges the
  /// rows of all other columns, and returns when all threads have finished. False if a column has no pivot: all threads
  /// then return.
  template <class FactorBlock>
  bool factor(const Slab& mine, Index block, FactorBlock factor_block) {
    return factor_columns(mine, 0, a.columns, block, factor_block);
  }

  const ColumnMajorView<Real> a;
  const int threads;
  SpinBarrier barrier;

 private:
  template <class FactorBlock>
  bool factor_columns(const Slab& mine, Index first, Index width, Index block, FactorBlock& factor_block) {
    if (width <= block) return factor_block(first, width);
    const Index left = round_up(width / 2, block);
    const Index right = width - left;
    if (!factor_columns(mine, first, left, block, factor_block)) return false;
    // U12 <- L11^-1 A12: a share of the columns each
    const Index begin = right * mine.thread / threads;
    const Index end = right * (mine.thread + 1) / threads;
    if (begin < end) {
      blas::trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, left, end - begin, &a(first, first),
                 a.leading_dimension, &a(first, first + left + begin), a.leading_dimension);
    }
    barrier.arrive_and_wait();
    // A22 <- A22 - L21 U12: the rows of the slab
    const Index below = mine.begin_from(first + left);
    if (mine.size_from(first + left) > 0) {
      blas::gemm(CblasColMajor, CblasNoTrans, mine.end - below, right, left, Real{-1}, &a(below, first),
                 a.leading_dimension, &a(first, first + left), a.leading_dimension, Real{1}, &a(below, first + left),
                 a.leading_dimension);
    }
    return factor_columns(mine, first + left, right, block, factor_block);
  }
};

/// By SlabRecursion, with narrow blocks of columns one by one. One barrier per column: each thread posts
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
