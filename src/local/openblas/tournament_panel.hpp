// LU with tournament pivoting of a tall panel by several threads, each of which keeps a slab of its rows in its own
// cache.
#pragma once

#include <optional>
#include <span>

#include "local/matrix_view.hpp"
#include "local/openblas/tournament.hpp"
#include "local/thread_team.hpp"

namespace glinpack {

/// Recursive (slab_recursion.hpp). The threads agree once for every block of columns, not for every column: a
/// tournament chooses the pivots of all its columns, their rows go to the top, and L21 = A21 U11^-1 in every slab.
template <class Real>
class TournamentPanel {
 public:
  /// The team must outlive it.
  TournamentPanel(ThreadTeam& team, TournamentShape shape) : team_(team), shape_(shape), tournament_(shape) {}

  /// Whether a panel is tall enough for several threads.
  bool pays(Index rows, Index columns) const;

  /// As PanelArithmetic::pivot_by_tournament. BLAS must be set to one thread.
  std::optional<Index> factorize(ColumnMajorView<Real> a, std::span<Index> pivots);

  /// As PanelArithmetic::choose_rows. BLAS must be set to one thread.
  std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows, ColumnMajorView<Real> factors);

 private:
  class Factorization;
  ThreadTeam& team_;
  TournamentShape shape_;
  Tournament<Real> tournament_;
  std::vector<Real> travelling_;  // rows that change places
};

}  // namespace glinpack
