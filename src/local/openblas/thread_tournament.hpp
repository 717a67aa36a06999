// TSLU among threads: a reduction tree chooses the pivots of a block of columns (Grigori, Demmel, Xiang, "CALU: a
// communication optimal LU factorization algorithm", SIAM J. Matrix Anal. Appl. 32, 2011). And the LU of a tall panel
// with such pivots by several threads, each of which keeps a slab of the panel's rows in its own cache.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/threads.hpp"

namespace glinpack {

/// Parameters of the reduction tree. The defaults were chosen on two cores; bench/panel_bench.cpp tries others.
struct TournamentShape {
  Index block = 32;           // columns of a panel whose pivots one reduction chooses
  int arity = 4;              // threads whose candidate rows a node of the tree reduces
  Index min_slab_rows = 128;  // per thread; fewer threads take part if there are fewer rows
};

/// Each thread chooses as many candidate rows as there are columns, by LU with partial pivoting of a copy of its rows.
/// A reduction-tree node factorises the candidate rows of `arity` threads, in thread order, and keeps as many rows as
/// there are columns. The result depends on the number of threads, not on their speed. Buffers are reused.
template <class Real>
class Tournament {
 public:
  explicit Tournament(TournamentShape shape) : shape_(shape) {}

  /// The number of threads, of `available`, that should reduce `rows` rows; at least 1.
  int threads_for(Index rows, int available) const;
  /// Call before the threads start, and from one thread only.
  void start(int threads);

  /// One round; every thread calls it. `a` is the thread's share of a block's rows, which are numbered first_row,
  /// first_row + 1, ...; it may be empty. Thread 0 calls when_decided before the others return. BLAS must be set to one
  /// thread.
  void reduce_candidates(int thread, ColumnMajorView<const Real> a, Index first_row,
                         const std::function<void()>& when_decided);

  /// The rows chosen, min(rows, columns) of them, in the order of pivots. Valid until the next round ends.
  std::span<const Index> winners() const { return winners_; }
  /// L \ U of the winners: winners().size() x columns.
  ColumnMajorView<const Real> factors() const {
    const auto rows = static_cast<Index>(winners_.size());
    return {factors_.data(), rows, columns_, rows};
  }
  /// The first column that has no pivot in any row of the block.
  std::optional<Index> zero_column() const { return zero_column_; }

 private:
  // Rows as they were before any elimination.
  struct Candidates {
    std::vector<Index> rows;
    std::vector<Real> elements;  // column-major, rows.size() x columns

    ColumnMajorView<const Real> view(Index columns) const {
      const auto count = static_cast<Index>(rows.size());
      return {elements.data(), count, columns, count};
    }
  };

  // A thread's leaf of the reduction tree, and the node that the thread reduces.
  struct Node {
    alignas(64) std::atomic<Index> posted{0};  // the last round whose `candidates` other nodes may read
    alignas(64) Index round = 0;
    Candidates candidates;
    Candidates winning;
    std::vector<Real> copy;  // factorised in place; its first rows are L \ U of the candidates
    Index copy_rows = 0;
    std::vector<int> pivots;
    std::vector<Index> order;  // of the copy's rows after their interchanges
    int info = 0;              // LAPACK's
    Node() = default;
    Node(const Node&) {}  // lets a vector of nodes grow; never during a round
  };

  ColumnMajorView<Real> copy_of(Node& node, Index columns) const;
  void factorize_copy(Node& node, Index columns);
  void choose_from_slab(Node& node, ColumnMajorView<const Real> a, Index first_row);
  // Merges the candidates of thread `thread` with those of thread + stride, thread + 2 stride, ...
  void merge_candidates(int thread, int stride, Index columns);
  void store_result(Node& root, Index columns);

  TournamentShape shape_;
  std::vector<Node> nodes_;
  int threads_ = 1;
  std::vector<Index> winners_;
  std::vector<Real> factors_;
  Index columns_ = 0;
  std::optional<Index> zero_column_;
  alignas(64) std::atomic<Index> decided_{0};  // rounds
};

/// By SlabRecursion. The threads synchronise per block of columns, not per column. TSLU chooses the
/// pivots of the block, their rows move to the top, and every slab computes L21 = A21 U11^-1.
template <class Real>
class TournamentPanel {
 public:
  /// The team must outlive it.
  TournamentPanel(ThreadTeam& team, TournamentShape shape) : team_(team), shape_(shape), tournament_(shape) {}

  /// Whether a panel is tall enough for several threads.
  bool pays(Index rows, Index columns) const;

  /// As PanelArithmetic::factorize_tournament. BLAS must be set to one thread.
  std::optional<Index> factorize(ColumnMajorView<Real> a, std::span<Index> pivots);

  /// As PanelArithmetic::choose_rows. BLAS must be set to one thread.
  std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows, ColumnMajorView<Real> factors);

 private:
  class Factorization;
  ThreadTeam& team_;
  TournamentShape shape_;
  Tournament<Real> tournament_;
  std::vector<Real> staged_rows_;  // rows being interchanged
};

}  // namespace glinpack
