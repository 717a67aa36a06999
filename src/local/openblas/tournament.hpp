// A tournament of rows between threads (Grigori, Demmel, Xiang, "CALU: a communication optimal LU factorization
// algorithm", SIAM J. Matrix Anal. Appl. 32, 2011): how tournament pivoting chooses the pivots of a block of columns.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// How threads play, chosen on two cores; bench/panel_bench.cpp tries others.
struct TournamentShape {
  Index block = 32;             // columns of a panel whose pivots one tournament chooses
  int arity = 4;                // threads whose candidates meet in one match
  Index least_slab_rows = 128;  // of a thread: where there are fewer, fewer threads play
};

/// Every player, a thread, chooses as many of its rows as there are columns, by LU with partial pivoting of a copy.
/// These meet, `arity` players' at a time and in the order of the players, in an LU each, until as many are left. The
/// outcome depends on the number of players, but not on their speed. Keeps its memory from one round to the next.
template <class Real>
class Tournament {
 public:
  explicit Tournament(TournamentShape shape) : shape_(shape) {}

  /// How many of the threads should play for so many rows; at least 1.
  int players_for(Index rows, int threads) const;
  /// Before the players start; not by one of them.
  void start(int players);

  /// One round, by every player: `a`, its share of the rows of a block, has the numbers first_row, first_row + 1, ...;
  /// it may be empty. Player 0 calls when_decided before the others return. BLAS must be set to one thread.
  void play(int player, ColumnMajorView<const Real> a, Index first_row, const std::function<void()>& when_decided);

  /// Until the next round is decided: the rows chosen, as many as there are columns or all, in the order of pivots.
  std::span<const Index> winners() const { return winners_; }
  /// L \ U of them: winners().size() x columns.
  ColumnMajorView<const Real> factors() const {
    const auto rows = static_cast<Index>(winners_.size());
    return {factors_.data(), rows, columns_, rows};
  }
  /// The first column that has no pivot, in no row of the block.
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

  struct Player {
    alignas(64) std::atomic<Index> posted{0};  // the last round in which `candidates` may be read by who meets them
    alignas(64) Index round = 0;
    Candidates candidates;
    Candidates winning;
    std::vector<Real> copy;  // factorised; L \ U of the candidates comes first
    Index copy_rows = 0;
    std::vector<int> pivots;
    std::vector<Index> order;  // of the copy's rows after their interchanges
    int info = 0;              // LAPACK's
    Player() = default;
    Player(const Player&) {}  // a vector of them may be made anew, but not while they play
  };

  ColumnMajorView<Real> copy_of(Player& player, Index columns) const;
  void factorize_copy(Player& player, Index columns);
  void choose_own(Player& player, ColumnMajorView<const Real> a, Index first_row);
  // With the players that are `stride`, 2 stride, ... after this one.
  void meet(int player, int stride, Index columns);
  void decide(Player& player, Index columns);

  TournamentShape shape_;
  std::vector<Player> players_;
  int playing_ = 1;
  std::vector<Index> winners_;
  std::vector<Real> factors_;
  Index columns_ = 0;
  std::optional<Index> zero_column_;
  alignas(64) std::atomic<Index> decided_{0};  // rounds
};

}  // namespace glinpack
