#include "openblas/thread_tournament.hpp"

#include <algorithm>
#include <numeric>

#include "base/row_interchanges.hpp"
#include "openblas/blas.hpp"
#include "openblas/panel_kernels.hpp"
#include "openblas/slab_panel.hpp"

namespace glinpack {

template <class Real>
int Tournament<Real>::threads_for(Index rows, int available) const {
  return static_cast<int>(std::clamp<Index>(rows / shape_.min_slab_rows, 1, available));
}

template <class Real>
void Tournament<Real>::start(int threads) {
  threads_ = threads;
  if (nodes_.size() < static_cast<std::size_t>(threads)) nodes_.resize(static_cast<std::size_t>(threads));
  for (Node& node : nodes_) {
    node.posted = 0;
    node.round = 0;
  }
  decided_ = 0;
}

template <class Real>
void Tournament<Real>::reduce_candidates(int thread, ColumnMajorView<const Real> a, Index first_row,
                                         const std::function<void()>& when_decided) {
  Node& node = nodes_[static_cast<std::size_t>(thread)];
  ++node.round;
  choose_from_slab(node, a, first_row);
  int stride = 1;
  for (; stride < threads_ && thread % (stride * shape_.arity) == 0; stride *= shape_.arity) {
    merge_candidates(thread, stride, a.columns);
  }
  if (thread == 0) {
    store_result(node, a.columns);
    if (when_decided) when_decided();
    decided_.store(node.round, std::memory_order_release);
  } else {
    node.posted.store(node.round, std::memory_order_release);
    spin_until([&] { return decided_.load(std::memory_order_acquire) == node.round; });
  }
}

// The leading dimension is no large power of two: columns would share cache sets.
template <class Real>
ColumnMajorView<Real> Tournament<Real>::copy_of(Node& node, Index columns) const {
  const Index leading_dimension = node.copy_rows + 16;
  const auto elements = static_cast<std::size_t>(leading_dimension * columns);
  if (node.copy.size() < elements) node.copy.resize(elements);
  return {node.copy.data(), node.copy_rows, columns, leading_dimension};
}

template <class Real>
void Tournament<Real>::factorize_copy(Node& node, Index columns) {
  const ColumnMajorView<Real> copy = copy_of(node, columns);
  node.order.resize(static_cast<std::size_t>(copy.rows));
  std::iota(node.order.begin(), node.order.end(), Index{0});
  node.info = 0;
  if (copy.rows == 0 || columns == 0) return;
  node.pivots.resize(static_cast<std::size_t>(std::min(copy.rows, columns)));
  // getrf continues past a column without a pivot, as it must: another thread may have one
  node.info = blas::getrf(copy.rows, columns, copy.data, copy.leading_dimension, node.pivots.data());
  for (std::size_t i = 0; i < node.pivots.size(); ++i) {
    std::swap(node.order[i], node.order[static_cast<std::size_t>(node.pivots[i] - 1)]);
  }
}

template <class Real>
void Tournament<Real>::choose_from_slab(Node& node, ColumnMajorView<const Real> a, Index first_row) {
  node.copy_rows = a.rows;
  const ColumnMajorView<Real> copy = copy_of(node, a.columns);
  for (Index j = 0; j < a.columns; ++j) std::copy_n(a.column(j), a.rows, copy.column(j));
  factorize_copy(node, a.columns);
  const auto count = static_cast<std::size_t>(std::min(a.rows, a.columns));
  Candidates& chosen = node.candidates;
  chosen.rows.resize(count);
  chosen.elements.resize(count * static_cast<std::size_t>(a.columns));
  for (std::size_t i = 0; i < count; ++i) chosen.rows[i] = first_row + node.order[i];
  Real* to = chosen.elements.data();
  for (Index j = 0; j < a.columns; ++j) {
    for (std::size_t i = 0; i < count; ++i) *to++ = a(node.order[i], j);
  }
}

template <class Real>
void Tournament<Real>::merge_candidates(int thread, int stride, Index columns) {
  Node& node = nodes_[static_cast<std::size_t>(thread)];
  std::vector<std::pair<const Candidates*, Index>> rows;  // of all inputs: the candidates and the row in them
  for (int slot = 0; slot < shape_.arity && thread + slot * stride < threads_; ++slot) {
    Node& other = nodes_[static_cast<std::size_t>(thread + slot * stride)];
    if (slot > 0) spin_until([&] { return other.posted.load(std::memory_order_acquire) == node.round; });
    for (Index i = 0; i < static_cast<Index>(other.candidates.rows.size()); ++i)
      rows.emplace_back(&other.candidates, i);
  }
  if (rows.size() == node.candidates.rows.size()) return;  // the other nodes have none
  node.copy_rows = static_cast<Index>(rows.size());
  const ColumnMajorView<Real> copy = copy_of(node, columns);
  for (Index j = 0; j < columns; ++j) {
    Real* to = copy.column(j);
    for (const auto& [source, i] : rows) *to++ = source->view(columns)(i, j);
  }
  factorize_copy(node, columns);
  const std::size_t count = std::min(rows.size(), static_cast<std::size_t>(columns));
  Candidates& winning = node.winning;
  winning.rows.resize(count);
  winning.elements.resize(count * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [source, row] = rows[static_cast<std::size_t>(node.order[i])];
    winning.rows[i] = source->rows[static_cast<std::size_t>(row)];
    for (Index j = 0; j < columns; ++j) {
      winning.elements[i + static_cast<std::size_t>(j) * count] = source->view(columns)(row, j);
    }
  }
  std::swap(node.candidates, node.winning);
}

template <class Real>
void Tournament<Real>::store_result(Node& root, Index columns) {
  winners_ = root.candidates.rows;
  columns_ = columns;
  const auto count = static_cast<Index>(winners_.size());
  factors_.resize(static_cast<std::size_t>(count * columns));
  const ColumnMajorView<Real> copy = copy_of(root, columns);
  for (Index j = 0; j < columns; ++j) std::copy_n(copy.column(j), count, factors_.data() + j * count);
  zero_column_.reset();
  if (root.info > 0) zero_column_ = root.info - 1;
}

template class Tournament<float>;
template class Tournament<double>;

template <class Real>
class TournamentPanel<Real>::Factorization {
 public:
  Factorization(ColumnMajorView<Real> a, std::span<Index> pivots, int threads, const TournamentShape& shape,
                Tournament<Real>& tournament, std::vector<Real>& staging)
      : slabs_(a, threads),
        a_(a),
        pivots_(pivots),
        block_(shape.block),
        tournament_(tournament),
        staging_rows_(2 * shape.block) {
    staging.resize(static_cast<std::size_t>(staging_rows_ * a.columns));
    staged_rows_ = {staging.data(), staging_rows_, a.columns, staging_rows_};
    tournament.start(threads);
  }

  // Work of thread `thread`. All threads pass the same barriers.
  void run(int thread) {
    const Slab mine = slabs_.slab_of(thread);
    slabs_.factor(mine, block_, [&](Index first, Index width) { return factor_block(mine, first, width); });
  }

  std::optional<Index> zero_column() const { return zero_column_; }

 private:
  // False once a column has no pivot.
  bool factor_block(const Slab& mine, Index first, Index width) {
    const Index begin = mine.begin_from(first);
    tournament_.reduce_candidates(mine.thread, a_.block(begin, first, mine.size_from(first), width), begin,
                                  [&] { note_pivots(first); });
    if (zero_column_) return false;
    // interchange rows through a staging buffer; store L11 \ U11; L21 <- A21 U11^-1
    const ColumnMajorView<const Real> factors = tournament_.factors();
    copy_rows(mine, first, &RowMove::from, [](Real& in_panel, Real& staged) { staged = in_panel; });
    slabs_.barrier.arrive_and_wait();
    copy_rows(mine, first, &RowMove::to, [](Real& in_panel, Real& staged) { in_panel = staged; });
    for (Index j = share_begin(mine.thread); j < share_begin(mine.thread + 1); ++j) {
      if (first <= j && j < first + width) std::copy_n(factors.column(j - first), width, a_.column(j) + first);
    }
    const Index below = mine.begin_from(first + width);
    eliminate_rows(factors, a_.block(below, first, mine.size_from(first + width), width));
    slabs_.barrier.arrive_and_wait();
    return true;
  }

  void note_pivots(Index first) {
    if (tournament_.zero_column()) zero_column_ = first + *tournament_.zero_column();
    interchanges_ = bring_to_top(first, tournament_.winners());
    std::copy(interchanges_.pivots.begin(), interchanges_.pivots.end(), pivots_.begin() + first);
  }

  // First column of the thread's share of the top rows: all threads copy part of these adjacent rows.
  Index share_begin(int thread) const { return a_.columns * thread / slabs_.threads; }

  // Moves whose `end` is in the slab: all columns. Moves whose `end` is a top row: this thread's share of columns.
  template <class Copy>
  void copy_rows(const Slab& mine, Index first, Index RowMove::*end, Copy copy) {
    const std::vector<RowMove>& moves = interchanges_.moves;
    std::vector<std::pair<Index, Index>> of_slab, of_top;  // row in the panel, row in the staging buffer
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const Index row = moves[i].*end;
      const bool is_top = row < first + static_cast<Index>(interchanges_.pivots.size());
      if (is_top) {
        of_top.emplace_back(row, static_cast<Index>(i));
      } else if (mine.holds(row)) {
        of_slab.emplace_back(row, static_cast<Index>(i));
      }
    }
    for (Index j = 0; j < a_.columns; ++j) {
      for (const auto& [row, place] : of_slab) copy(a_(row, j), staged_rows_(place, j));
    }
    for (Index j = share_begin(mine.thread); j < share_begin(mine.thread + 1); ++j) {
      for (const auto& [row, place] : of_top) copy(a_(row, j), staged_rows_(place, j));
    }
  }

  SlabRecursion<Real> slabs_;
  ColumnMajorView<Real> a_;
  std::span<Index> pivots_;
  Index block_;
  Tournament<Real>& tournament_;
  Index staging_rows_;
  ColumnMajorView<Real> staged_rows_;
  RowInterchanges interchanges_;  // of the block
  std::optional<Index> zero_column_;
};

template <class Real>
bool TournamentPanel<Real>::pays(Index rows, Index columns) const {
  return rows > columns && tournament_.threads_for(rows, team_.members()) > 1;
}

template <class Real>
std::optional<Index> TournamentPanel<Real>::factorize(ColumnMajorView<Real> a, std::span<Index> pivots) {
  const int threads = tournament_.threads_for(a.rows, team_.members());
  Factorization factorization(a, pivots, threads, shape_, tournament_, staged_rows_);
  team_.run([&](int thread) {
    if (thread < threads) factorization.run(thread);
  });
  return factorization.zero_column();
}

template <class Real>
std::optional<Index> TournamentPanel<Real>::choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                                        ColumnMajorView<Real> factors) {
  const int threads = tournament_.threads_for(a.rows, team_.members());
  tournament_.start(threads);
  const auto reduce_share = [&](int thread) {
    const Index begin = a.rows * thread / threads;
    const Index end = a.rows * (thread + 1) / threads;
    tournament_.reduce_candidates(thread, a.block(begin, 0, end - begin, a.columns), begin, {});
  };
  if (threads == 1) {
    reduce_share(0);
  } else {
    team_.run([&](int thread) {
      if (thread < threads) reduce_share(thread);
    });
  }
  std::copy(tournament_.winners().begin(), tournament_.winners().end(), rows.begin());
  const ColumnMajorView<const Real> found = tournament_.factors();
  for (Index j = 0; j < found.columns; ++j) std::copy_n(found.column(j), found.rows, factors.column(j));
  return tournament_.zero_column();
}

template class TournamentPanel<float>;
template class TournamentPanel<double>;

}  // namespace glinpack
