#include "global/tournament_tree.hpp"

#include <algorithm>

#include "global/schedule.hpp"

namespace glinpack {

std::vector<TournamentMatch> tournament_matches(std::span<const Index> rows_of, int root, Index width) {
  const auto processes = static_cast<int>(rows_of.size());
  // places count from the root
  const auto process_at = [&](int place) { return (root + place) % processes; };
  std::vector<Index> candidates;
  for (int place = 0; place < processes; ++place) {
    candidates.push_back(std::min(width, rows_of[static_cast<std::size_t>(process_at(place))]));
  }
  std::vector<TournamentMatch> matches;
  for (int stride = 1; stride < processes; stride *= 2) {
    for (int place = 0; place + stride < processes; place += 2 * stride) {
      const Index rows = candidates[static_cast<std::size_t>(place + stride)];
      if (rows == 0) continue;
      Index& receiver = candidates[static_cast<std::size_t>(place)];
      receiver = std::min(width, receiver + rows);
      matches.push_back({process_at(place + stride), process_at(place), rows});
    }
  }
  return matches;
}

std::vector<TournamentBlock> tournaments_of_pass(const Distribution& distribution, Index pass) {
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  std::vector<Index> rows_of;
  for (int p = 0; p < distribution.shape.rows; ++p) {
    rows_of.push_back(plan_pass(distribution, pass, {p, pivot.column}).panel_rows);
  }
  const Index panel_width = distribution.pass_width(pass);
  std::vector<TournamentBlock> blocks;
  for (Index first = 0; first < panel_width; first += tournament_columns) {
    const Index width = std::min(tournament_columns, panel_width - first);
    blocks.push_back({first, width, tournament_matches(rows_of, pivot.row, width)});
    rows_of[static_cast<std::size_t>(pivot.row)] -= width;
  }
  return blocks;
}

}  // namespace glinpack
