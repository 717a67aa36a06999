#include "local/openblas/tournament.hpp"

#include <algorithm>
#include <numeric>

#include "local/openblas/blas.hpp"
#include "local/thread_team.hpp"

namespace glinpack {

template <class Real>
int Tournament<Real>::players_for(Index rows, int threads) const {
  return static_cast<int>(std::clamp<Index>(rows / shape_.least_slab_rows, 1, threads));
}

template <class Real>
void Tournament<Real>::start(int players) {
  playing_ = players;
  if (players_.size() < static_cast<std::size_t>(players)) players_.resize(static_cast<std::size_t>(players));
  for (Player& player : players_) {
    player.posted = 0;
    player.round = 0;
  }
  decided_ = 0;
}

template <class Real>
void Tournament<Real>::play(int number, ColumnMajorView<const Real> a, Index first_row,
                            const std::function<void()>& when_decided) {
  Player& player = players_[static_cast<std::size_t>(number)];
  ++player.round;
  choose_own(player, a, first_row);
  int stride = 1;
  for (; stride < playing_ && number % (stride * shape_.arity) == 0; stride *= shape_.arity) {
    meet(number, stride, a.columns);
  }
  if (number == 0) {
    decide(player, a.columns);
    if (when_decided) when_decided();
    decided_.store(player.round, std::memory_order_release);
  } else {
    player.posted.store(player.round, std::memory_order_release);
    spin_until([&] { return decided_.load(std::memory_order_acquire) == player.round; });
  }
}

// Its leading dimension is not a large power of two, where columns would share cache sets.
template <class Real>
ColumnMajorView<Real> Tournament<Real>::copy_of(Player& player, Index columns) const {
  const Index leading_dimension = player.copy_rows + 16;
  const auto elements = static_cast<std::size_t>(leading_dimension * columns);
  if (player.copy.size() < elements) player.copy.resize(elements);
  return {player.copy.data(), player.copy_rows, columns, leading_dimension};
}

template <class Real>
void Tournament<Real>::factorize_copy(Player& player, Index columns) {
  const ColumnMajorView<Real> copy = copy_of(player, columns);
  player.order.resize(static_cast<std::size_t>(copy.rows));
  std::iota(player.order.begin(), player.order.end(), Index{0});
  player.info = 0;
  if (copy.rows == 0 || columns == 0) return;
  player.pivots.resize(static_cast<std::size_t>(std::min(copy.rows, columns)));
  // getrf goes on past a column without a pivot, as it must here: another player may have one
  player.info = blas::getrf(copy.rows, columns, copy.data, copy.leading_dimension, player.pivots.data());
  for (std::size_t i = 0; i < player.pivots.size(); ++i) {
    std::swap(player.order[i], player.order[static_cast<std::size_t>(player.pivots[i] - 1)]);
  }
}

template <class Real>
void Tournament<Real>::choose_own(Player& player, ColumnMajorView<const Real> a, Index first_row) {
  player.copy_rows = a.rows;
  const ColumnMajorView<Real> copy = copy_of(player, a.columns);
  for (Index j = 0; j < a.columns; ++j) std::copy_n(a.column(j), a.rows, copy.column(j));
  factorize_copy(player, a.columns);
  const auto count = static_cast<std::size_t>(std::min(a.rows, a.columns));
  Candidates& chosen = player.candidates;
  chosen.rows.resize(count);
  chosen.elements.resize(count * static_cast<std::size_t>(a.columns));
  for (std::size_t i = 0; i < count; ++i) chosen.rows[i] = first_row + player.order[i];
  Real* to = chosen.elements.data();
  for (Index j = 0; j < a.columns; ++j) {
    for (std::size_t i = 0; i < count; ++i) *to++ = a(player.order[i], j);
  }
}

template <class Real>
void Tournament<Real>::meet(int number, int stride, Index columns) {
  Player& player = players_[static_cast<std::size_t>(number)];
  std::vector<std::pair<const Candidates*, Index>> rows;  // all that meet: whose, and which of them
  for (int place = 0; place < shape_.arity && number + place * stride < playing_; ++place) {
    Player& other = players_[static_cast<std::size_t>(number + place * stride)];
    if (place > 0) spin_until([&] { return other.posted.load(std::memory_order_acquire) == player.round; });
    for (Index i = 0; i < static_cast<Index>(other.candidates.rows.size()); ++i)
      rows.emplace_back(&other.candidates, i);
  }
  if (rows.size() == player.candidates.rows.size()) return;  // no others have any
  player.copy_rows = static_cast<Index>(rows.size());
  const ColumnMajorView<Real> copy = copy_of(player, columns);
  for (Index j = 0; j < columns; ++j) {
    Real* to = copy.column(j);
    for (const auto& [whose, i] : rows) *to++ = whose->view(columns)(i, j);
  }
  factorize_copy(player, columns);
  const std::size_t count = std::min(rows.size(), static_cast<std::size_t>(columns));
  Candidates& winning = player.winning;
  winning.rows.resize(count);
  winning.elements.resize(count * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [whose, row] = rows[static_cast<std::size_t>(player.order[i])];
    winning.rows[i] = whose->rows[static_cast<std::size_t>(row)];
    for (Index j = 0; j < columns; ++j) {
      winning.elements[i + static_cast<std::size_t>(j) * count] = whose->view(columns)(row, j);
    }
  }
  std::swap(player.candidates, player.winning);
}

template <class Real>
void Tournament<Real>::decide(Player& player, Index columns) {
  winners_ = player.candidates.rows;
  columns_ = columns;
  const auto count = static_cast<Index>(winners_.size());
  factors_.resize(static_cast<std::size_t>(count * columns));
  const ColumnMajorView<Real> copy = copy_of(player, columns);
  for (Index j = 0; j < columns; ++j) std::copy_n(copy.column(j), count, factors_.data() + j * count);
  zero_column_.reset();
  if (player.info > 0) zero_column_ = player.info - 1;
}

template class Tournament<float>;
template class Tournament<double>;

}  // namespace glinpack
