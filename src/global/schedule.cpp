#include "global/schedule.hpp"

#include <algorithm>
#include <array>
#include <bit>

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

// Messages of one process column for the rows of some columns, added to those of other columns.
class ColumnMessages {
 public:
  ColumnMessages(const Distribution& distribution, Index pass, int column, std::vector<Message>& messages)
      : grid_(distribution.shape),
        pivot_row_(pivot_position(grid_, pass).row),
        column_(column),
        width_(distribution.pass_width(pass)),
        messages_(messages),
        before_(messages.size()) {}

  /// What follows is of other columns: messages between the same ranks, which are added up.
  void next_piece() { merges_ = true; }

  void direct(Index columns) { add(Message::Kind::row_exchange, 0, others_in_column(grid_, at(0)), width_ * columns); }
  void u12(Index columns) { add(Message::Kind::u12_column, 0, others_in_column(grid_, at(0)), width_ * columns); }

  void binary_exchange(Index columns) {
    const int most = static_cast<int>(std::bit_floor(static_cast<unsigned>(grid_.rows)));
    const auto exchange = [&](int from, int to) { add(Message::Kind::u_exchange, from, {at(to)}, width_ * columns); };
    for (int place = most; place < grid_.rows; ++place) exchange(place, place - most);
    for (int mask = 1; mask < most; mask *= 2) {
      for (int place = 0; place < most; ++place) exchange(place, place ^ mask);
    }
    for (int place = most; place < grid_.rows; ++place) exchange(place - most, place);
  }

  void spread_roll(Index columns) {
    const auto piece = [&](int place) { return width_ * (place + 1) / grid_.rows - width_ * place / grid_.rows; };
    const Index largest_piece = (width_ + grid_.rows - 1) / grid_.rows;
    for (int place = 0; place < grid_.rows; ++place) {
      add(Message::Kind::equal_pieces, place, others_in_column(grid_, at(place)), largest_piece * columns);
    }
    for (int mask = static_cast<int>(std::bit_ceil(static_cast<unsigned>(grid_.rows))) / 2; mask > 0; mask /= 2) {
      for (int place = 0; place + mask < grid_.rows; place += 2 * mask) {
        add(Message::Kind::spread, place, {at(place + mask)}, width_ * columns);
      }
    }
    for (int place = 0; place < grid_.rows; ++place) {
      const int right = (place + 1) % grid_.rows;
      // pieces of fewer rows than ranks: some are empty
      Index parts = 0;
      for (int other = 0; other < grid_.rows; ++other) parts += other != right && piece(other) > 0 ? 1 : 0;
      add(Message::Kind::roll, place, {at(right)}, (width_ - piece(right)) * columns, parts);
    }
  }

 private:
  // Places count from the pivot's process row.
  GridPosition at(int place) const { return {(pivot_row_ + place) % grid_.rows, column_}; }

  void add(Message::Kind kind, int place, std::vector<GridPosition> to, Index elements, Index parts = 1) {
    if (to.empty() || elements == 0) return;
    const GridPosition from = at(place);
    const auto first = merges_ ? messages_.begin() + static_cast<std::ptrdiff_t>(before_) : messages_.end();
    const auto same = std::find_if(first, messages_.end(), [&](const Message& message) {
      return message.kind == kind && message.from == from && message.to == to;
    });
    if (same == messages_.end()) {
      messages_.push_back({kind, from, std::move(to), elements, parts});
    } else {
      same->elements += elements;
      same->parts += parts;
    }
  }

  GridShape grid_;
  int pivot_row_;
  int column_;
  Index width_;
  std::vector<Message>& messages_;
  std::size_t before_;  // messages that are not this column's
  bool merges_ = false;
};

// Rows change places, and U12 comes to all process rows.
void add_row_swap(std::vector<Message>& messages, const Distribution& distribution, Pivoting pivoting, Index pass,
                  const RowSwap& swap) {
  const bool all_compute = all_compute_u12(swap, pivoting, distribution.shape);
  for (int q = 0; q < distribution.shape.columns; ++q) {
    ColumnMessages column(distribution, pass, q, messages);
    const Index trailing = plan_pass(distribution, pass, {0, q}).trailing_columns;
    for (ColumnRange piece = first_piece(trailing, distribution.nb, swap.pieces); piece.count > 0;
         piece = piece_after(piece, trailing)) {
      if (!all_compute) {
        if (pivots_across_processes(pivoting)) column.direct(piece.count);
        column.u12(piece.count);
      } else if (kind_for(swap, piece.count) == RowSwapKind::binary_exchange) {
        column.binary_exchange(piece.count);
      } else {
        column.spread_roll(piece.count);
      }
      column.next_piece();
    }
  }
}

}  // namespace

ColumnRange first_piece(Index trailing_columns, Index nb, Index pieces) {
  const Index even = (trailing_columns + pieces - 1) / pieces;
  return {0, std::min(trailing_columns, (even + nb - 1) / nb * nb)};
}

ColumnRange piece_after(const ColumnRange& piece, Index trailing_columns) {
  return {piece.end(), std::min(piece.count, trailing_columns - piece.end())};
}

std::vector<Message> messages_of_pass(const Distribution& distribution, Pivoting pivoting, Index pass,
                                      const RowSwap& swap) {
  const GridShape grid = distribution.shape;
  const GridPosition pivot = pivot_position(grid, pass);
  const Index width = distribution.pass_width(pass);
  const bool all_compute = all_compute_u12(swap, pivoting, grid);
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
    const PassPlan plan = plan_pass(distribution, pass, from);
    const Index above = all_compute && !plan.in_pivot_row ? width : 0;
    send(Message::Kind::panel_row, from, others_in_row(grid, from), (above + plan.panel_rows) * width);
  }
  add_row_swap(messages, distribution, pivoting, pass, swap);
  return messages;
}

}  // namespace glinpack
