// The multigrid preconditioner of the elliptic test problem in host memory, by loops.
#pragma once

#include <vector>

#include "base/threads.hpp"
#include "host/host_memory.hpp"
#include "solvers/poisson/poisson_multigrid.hpp"

namespace glinpack {

/// One grid's rows, with a row of zeros above and below, and a 0 on each side of a row.
template <class Real>
struct HostGrid {
  Real* first = nullptr;  // element (0, 0)
  Index stride = 0;

  Real* row(Index i) const { return first + i * stride; }
};

template <class Real>
class HostMultigrid {
 public:
  /// For n x n points. The team must outlive it. Throws std::bad_alloc.
  HostMultigrid(Index n, ThreadTeam& team);

  /// z <- B r (poisson_multigrid.hpp). The result does not depend on the number of threads.
  void apply(const HostGrid<Real>& r);
  /// z of the last apply().
  const HostGrid<Real>& z() const { return grids_.front().smoothed; }

 private:
  struct Grid {
    Index n = 0;
    HostGrid<Real> r, z, smoothed;
    std::vector<CoarsePlace> places;  // of its points among the next grid's
  };

  HostGrid<Real> allocate(Index n);
  /// body(begin, end, scratch) for a block of rows on every thread, whose scratch is three rows of the finest grid;
  /// small grids use one thread.
  template <class Body>
  void for_row_blocks(Index rows, const Body& body);
  void smooth_before(const Grid& grid);
  void restrict_residual(const Grid& grid, const Grid& next);
  void restrict_rows(const Grid& grid, const Grid& next, Index begin, Index end, Real* scratch);
  void interpolate(const Grid& grid, const Grid& next);
  void smooth_after(const Grid& grid);
  void smooth_rows_after(const Grid& grid, Index begin, Index end, Real* scratch);

  ThreadTeam* team_;
  std::vector<AlignedArray<Real>> memory_;
  std::vector<Grid> grids_;
  std::vector<std::vector<Real>> scratch_;  // by thread
};

}  // namespace glinpack
