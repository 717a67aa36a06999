#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

// std::uniform_int_distribution differs from one standard library to another; ranks may not. The bias of a remainder
// of 64 bits does not matter for extents of matrices.
Index draw(std::mt19937_64& generator, Index choices) {
  return static_cast<Index>(generator() % static_cast<std::uint64_t>(choices));
}

}  // namespace

std::vector<GlobalIndex> synthetic_pivots(const Distribution& distribution, Pivoting pivoting, Index pass) {
  const Index width = distribution.pass_width(pass);
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  const PassPlan plan = plan_pass(distribution, pass, pivot);
  std::mt19937_64 generator(static_cast<std::uint64_t>(pass));
  std::vector<GlobalIndex> pivots;
  for (Index j = 0; j < width; ++j) {
    if (pivots_across_processes(pivoting)) {
      pivots.push_back(first + j + draw(generator, distribution.n - first.value - j));
    } else {
      const LocalIndex row = plan.panel_row + j + draw(generator, plan.panel_rows - j);
      pivots.push_back(distribution.rows.global(row, pivot.row));
    }
  }
  return pivots;
}

Index rows_exchanged(const Distribution& distribution, Pivoting pivoting) {
  Index rows = 0;
  if (!pivots_across_processes(pivoting) || distribution.shape.rows == 1) return rows;
  for (Index pass = 0; pass < distribution.passes(); ++pass) {
    const auto pivots = synthetic_pivots(distribution, pivoting, pass);
    for (const GlobalRowMove& move : net_row_moves(distribution.rows.first(BlockIndex(pass)), pivots)) {
      if (distribution.rows.owner(move.from) != distribution.rows.owner(move.to)) ++rows;
    }
  }
  return rows;
}

}  // namespace glinpack
