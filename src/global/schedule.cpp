#include "global/schedule.hpp"

#include <algorithm>
#include <array>

#include "global/tournament_tree.hpp"

namespace glinpack {

std::string_view name_of(Pivoting pivoting) {
  switch (pivoting) {
    case Pivoting::local:
      return "local";
    case Pivoting::partial:
      return "partial";
    case Pivoting::tournament:
      return "tournament";
  }
  return "?";
}

std::string_view name_of(PanelPlace place) {
  constexpr std::array<std::string_view, 3> names{"auto", "host", "device"};
  return names[static_cast<std::size_t>(place)];
}

GridPosition pivot_position(const GridShape& grid, Index pass) {
  return {static_cast<int>(pass % grid.rows), static_cast<int>(pass % grid.columns)};
}

Role role_in_pass(const GridShape& grid, Index pass, GridPosition at) {
  const GridPosition pivot = pivot_position(grid, pass);
  if (at == pivot) return Role::pivot;
  if (at.row == pivot.row) return Role::normalize;
  if (at.column == pivot.column) return Role::eliminate;
  return Role::reduce;
}

PassPlan plan_pass(const Distribution& distribution, Index pass, GridPosition at) {
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  const Index width = distribution.pass_width(pass);
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  PassPlan plan;
  plan.pass = pass;
  plan.width = width;
  plan.role = role_in_pass(distribution.shape, pass, at);
  plan.pivot = pivot;
  plan.in_pivot_row = at.row == pivot.row;
  plan.in_pivot_column = at.column == pivot.column;
  plan.panel_row = distribution.rows.lower_bound(first, at.row);
  plan.panel_column = distribution.columns.lower_bound(first, at.column);
  plan.panel_rows = distribution.local_rows(at) - plan.panel_row.value;
  plan.trailing_row = distribution.rows.lower_bound(first + width, at.row);
  plan.trailing_column = distribution.columns.lower_bound(first + width, at.column);
  plan.trailing_rows = distribution.local_rows(at) - plan.trailing_row.value;
  plan.trailing_columns = distribution.local_columns(at) - plan.trailing_column.value;
  return plan;
}

namespace {

std::vector<GridPosition> others_in_row(const GridShape& grid, GridPosition at) {
  std::vector<GridPosition> others;
  for (int q = 0; q < grid.columns; ++q) {
    if (q != at.column) others.push_back({at.row, q});
  }
  return others;
}

std::vector<GridPosition> others_in_column(const GridShape& grid, GridPosition at) {
  std::vector<GridPosition> others;
  for (int p = 0; p < grid.rows; ++p) {
    if (p != at.row) others.push_back({p, at.column});
  }
  return others;
}

// Each match of the trees with its rows in all blocks of columns; then the outcomes.
void add_tournaments(std::vector<Message>& messages, const Distribution& distribution, Index pass) {
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  const Index width = distribution.pass_width(pass);
  const auto blocks = tournaments_of_pass(distribution, pass);
  const std::size_t before = messages.size();
  for (const TournamentBlock& block : blocks) {
    for (const TournamentMatch& match : block.matches) {
      const GridPosition from{match.from, pivot.column};
      const auto same = std::find_if(messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end(),
                                     [&](const Message& message) { return message.from == from; });
      if (same == messages.end()) {
        messages.push_back({Message::Kind::match, from, {{match.to, pivot.column}}, match.rows * width, 1});
      } else {
        same->elements += match.rows * width;
        ++same->parts;
      }
    }
  }
  const auto others = others_in_column(distribution.shape, pivot);
  if (others.empty()) return;
  messages.push_back({Message::Kind::winners, pivot, others, 2 * width * width, static_cast<Index>(blocks.size())});
}

}  // namespace

std::vector<Message> messages_of_pass(const Distribution& distribution, Pivoting pivoting, Index pass) {
  const GridShape grid = distribution.shape;
  const GridPosition pivot = pivot_position(grid, pass);
  const Index width = distribution.pass_width(pass);
  std::vector<Message> messages;
  const auto send = [&](Message::Kind kind, GridPosition from, std::vector<GridPosition> to, Index elements) {
    if (!to.empty() && elements > 0) messages.push_back({kind, from, std::move(to), elements, 1});
  };

  if (pivoting == Pivoting::tournament) {
    add_tournaments(messages, distribution, pass);
  } else if (pivoting == Pivoting::partial) {
    // every rank of the process column offers, for every column of the panel, a row of it and the current row
    for (int p = 0; p < grid.rows; ++p) {
      const GridPosition from{p, pivot.column};
      send(Message::Kind::candidate, from, others_in_column(grid, from), 2 * width * width);
    }
  } else {
    send(Message::Kind::u11_column, pivot, others_in_column(grid, pivot), width * width);
  }
  for (int p = 0; p < grid.rows; ++p) {
    const GridPosition from{p, pivot.column};
    send(Message::Kind::panel_row, from, others_in_row(grid, from),
         plan_pass(distribution, pass, from).panel_rows * width);
  }
  for (int q = 0; q < grid.columns; ++q) {
    const GridPosition from{pivot.row, q};
    const Index columns = plan_pass(distribution, pass, from).trailing_columns;
    if (pivots_across_processes(pivoting))
      send(Message::Kind::row_exchange, from, others_in_column(grid, from), width * columns);
    send(Message::Kind::u12_column, from, others_in_column(grid, from), width * columns);
  }
  return messages;
}

}  // namespace glinpack
