// The reduction trees of tournament pivoting over a process column, as data (Grigori, Demmel, Xiang, "CALU: a
// communication optimal LU factorization algorithm", SIAM J. Matrix Anal. Appl. 32, 2011). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "global/distribution.hpp"

namespace glinpack {

/// Columns of a panel whose pivots one tree chooses. Fewer make more messages, of as many bytes together; more make
/// more work, since every rank's rows of these columns are factorised twice.
inline constexpr Index tournament_columns = 64;

/// One process row sends its candidates to another, which chooses from them and its own. The order of both is fixed:
/// first those of the receiver.
struct TournamentMatch {
  int from = 0;
  int to = 0;
  Index rows = 0;  // that travel, >= 1
  friend bool operator==(const TournamentMatch&, const TournamentMatch&) = default;
};

/// Columns [first, first + width) of a panel, and the matches in an order in which they may be played.
struct TournamentBlock {
  Index first = 0;
  Index width = 0;
  std::vector<TournamentMatch> matches;
};

/// A binomial tree over process rows that hold `rows_of` rows each. The root ends with `width` winners, or with all
/// rows; in ceil(log2 P) levels. Who has no rows sends none.
std::vector<TournamentMatch> tournament_matches(std::span<const Index> rows_of, int root, Index width);

/// The trees of a pass, one for each block of the panel's columns; the root is the pivot's process row.
std::vector<TournamentBlock> tournaments_of_pass(const Distribution& distribution, Index pass);

/// Elements of the message of `rows` candidates, whole rows of a panel: their global numbers, then the rows,
/// column-major.
template <class Real>
constexpr Index candidates_message_elements(Index rows, Index panel_width) {
  return rows * (static_cast<Index>(sizeof(std::int64_t) / sizeof(Real)) + panel_width);
}

/// Elements of the message that tells the outcome for a block: the column without a pivot (or -1), the pivots, then
/// the winners and the rows that stood in their places before, column-major; of the winners' elements in the block
/// itself, L11 \ U11.
template <class Real>
constexpr Index winners_message_elements(Index block_width, Index panel_width) {
  return (block_width + 1) * static_cast<Index>(sizeof(std::int64_t) / sizeof(Real)) + 2 * block_width * panel_width;
}

}  // namespace glinpack
