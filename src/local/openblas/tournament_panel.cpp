#include "local/openblas/tournament_panel.hpp"

#include <algorithm>
#include <vector>

#include "local/openblas/eliminate_rows.hpp"
#include "local/openblas/slab_recursion.hpp"
#include "local/row_interchanges.hpp"

namespace glinpack {

template <class Real>
class TournamentPanel<Real>::Factorization {
 public:
  Factorization(ColumnMajorView<Real> a, std::span<Index> pivots, int players, const TournamentShape& shape,
                Tournament<Real>& tournament, std::vector<Real>& travelling)
      : slabs_(a, players),
        a_(a),
        pivots_(pivots),
        block_(shape.block),
        tournament_(tournament),
        travelling_rows_(2 * shape.block) {
    travelling.resize(static_cast<std::size_t>(travelling_rows_ * a.columns));
    travelling_ = {travelling.data(), travelling_rows_, a.columns, travelling_rows_};
    tournament.start(players);
  }

  // What thread `thread` does; the same barriers on all.
  void run(int thread) {
    const Slab mine = slabs_.slab_of(thread);
    slabs_.factor(mine, block_, [&](Index first, Index width) { return factor_block(mine, first, width); });
  }

  std::optional<Index> zero_column() const { return zero_column_; }

 private:
  // False once a column has no pivot.
  bool factor_block(const Slab& mine, Index first, Index width) {
    const Index begin = mine.begin_from(first);
    tournament_.play(mine.thread, a_.block(begin, first, mine.size_from(first), width), begin,
                     [&] { note_pivots(first); });
    if (zero_column_) return false;
    // rows change places by a copy in between, and L11 \ U11 come to theirs; L21 <- A21 U11^-1
    const ColumnMajorView<const Real> factors = tournament_.factors();
    copy_rows(mine, first, &RowMove::from, [](Real& in_panel, Real& travelling) { travelling = in_panel; });
    slabs_.barrier.arrive_and_wait();
    copy_rows(mine, first, &RowMove::to, [](Real& in_panel, Real& travelling) { in_panel = travelling; });
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

  // The columns that a thread copies of the top rows, which lie side by side: one thread alone would be long at it.
  Index share_begin(int thread) const { return a_.columns * thread / slabs_.threads; }

  // For all moves: whose `end` is in the slab, all columns; whose end is one of the top rows, a share of the columns.
  template <class Copy>
  void copy_rows(const Slab& mine, Index first, Index RowMove::*end, Copy copy) {
    const std::vector<RowMove>& moves = interchanges_.moves;
    std::vector<std::pair<Index, Index>> of_slab, of_top;  // row in the panel, travelling row
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
      for (const auto& [row, place] : of_slab) copy(a_(row, j), travelling_(place, j));
    }
    for (Index j = share_begin(mine.thread); j < share_begin(mine.thread + 1); ++j) {
      for (const auto& [row, place] : of_top) copy(a_(row, j), travelling_(place, j));
    }
  }

  SlabRecursion<Real> slabs_;
  ColumnMajorView<Real> a_;
  std::span<Index> pivots_;
  Index block_;
  Tournament<Real>& tournament_;
  Index travelling_rows_;
  ColumnMajorView<Real> travelling_;
  RowInterchanges interchanges_;  // of the block
  std::optional<Index> zero_column_;
};

template <class Real>
bool TournamentPanel<Real>::pays(Index rows, Index columns) const {
  return rows > columns && tournament_.players_for(rows, team_.members()) > 1;
}

template <class Real>
std::optional<Index> TournamentPanel<Real>::factorize(ColumnMajorView<Real> a, std::span<Index> pivots) {
  const int players = tournament_.players_for(a.rows, team_.members());
  Factorization factorization(a, pivots, players, shape_, tournament_, travelling_);
  team_.run([&](int thread) {
    if (thread < players) factorization.run(thread);
  });
  return factorization.zero_column();
}

template <class Real>
std::optional<Index> TournamentPanel<Real>::choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                                        ColumnMajorView<Real> factors) {
  const int players = tournament_.players_for(a.rows, team_.members());
  tournament_.start(players);
  const auto play = [&](int player) {
    const Index begin = a.rows * player / players;
    const Index end = a.rows * (player + 1) / players;
    tournament_.play(player, a.block(begin, 0, end - begin, a.columns), begin, {});
  };
  if (players == 1) {
    play(0);
  } else {
    team_.run([&](int thread) {
      if (thread < players) play(thread);
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
