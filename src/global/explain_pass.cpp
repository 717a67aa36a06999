// The schedule of a pass as text: tables of ranks and messages.
#include <sstream>

#include "global/schedule.hpp"

namespace glinpack {

namespace {

std::string text(GridPosition at) { return "(" + std::to_string(at.row) + "," + std::to_string(at.column) + ")"; }

/// All of them where they are few, else the ends of the list and their number: a line of at most 100 characters.
std::string text(const std::vector<GridPosition>& receivers) {
  constexpr std::size_t most = 6;
  if (receivers.size() > most) {
    return text(receivers[0]) + ' ' + text(receivers[1]) + " ... " + text(receivers.back()) + ", " +
           std::to_string(receivers.size()) + " ranks ";
  }
  std::string list;
  for (const GridPosition& to : receivers) list += text(to) + ' ';
  return list;
}

std::string_view text(Message::Kind kind) {
  switch (kind) {
    case Message::Kind::panel_row:
      return "P, L11, L21 along the process row";
    case Message::Kind::u11_column:
      return "U11 down the process column";
    case Message::Kind::u12_column:
      return "U12 down the process column";
    case Message::Kind::candidate:
      return "pivot candidates in the process column";
    case Message::Kind::match:
      return "candidate rows up the tournament's tree";
    case Message::Kind::winners:
      return "winners and the rows they displace";
    case Message::Kind::row_exchange:
      return "rows exchanged, at most";
    case Message::Kind::u_exchange:
      return "rows of U and those they displace, at most";
    case Message::Kind::spread:
      return "displaced rows down a tree, at most";
    case Message::Kind::equal_pieces:
      return "pieces of U made equal, at most";
    case Message::Kind::roll:
      return "pieces of U round the process column";
  }
  return "";
}

void add_ranks(std::ostream& out, const Distribution& distribution, Index pass, bool all_compute) {
  out << "rank (row,column)  role       panel, rows x columns  U12, rows x columns  A22, rows x columns\n";
  const auto extent = [](bool present, Index rows, Index columns) {
    return present ? std::to_string(rows) + " x " + std::to_string(columns) : std::string("-");
  };
  const auto cell = [&out](std::string_view value, std::size_t width) {
    out << value << std::string(value.size() < width ? width - value.size() : 1, ' ');
  };
  for (int p = 0; p < distribution.shape.rows; ++p) {
    for (int q = 0; q < distribution.shape.columns; ++q) {
      const PassPlan plan = plan_pass(distribution, pass, {p, q});
      cell(text(GridPosition{p, q}), 19);
      cell(name_of(plan.role), 11);
      cell(extent(plan.in_pivot_column, plan.panel_rows, plan.width), 23);
      cell(extent(plan.in_pivot_row || all_compute, plan.width, plan.trailing_columns), 21);
      out << extent(true, plan.trailing_rows, plan.trailing_columns) << "\n";
    }
  }
}

}  // namespace

std::string explain_pass(const Distribution& distribution, Pivoting pivoting, Index pass, const RowSwap& swap) {
  const GridShape grid = distribution.shape;
  const bool all_compute = all_compute_u12(swap, pivoting, grid);
  const GridPosition pivot = pivot_position(grid, pass);
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  std::ostringstream out;
  out << "Pass " << pass << " of " << distribution.passes() << " (0 ... " << distribution.passes() - 1
      << "): N = " << distribution.n << ", nb = " << distribution.nb << ", grid " << grid.rows << "x" << grid.columns
      << ", " << name_of(pivoting) << " pivoting"
      << (all_compute ? ", rows exchanged by " + std::string(name_of(swap.kind)) : "") << "\n"
      << "Columns " << first.value << " ... " << first.value + distribution.pass_width(pass) - 1
      << " become L and U; the pivot is " << text(pivot) << ".\n\n";
  add_ranks(out, distribution, pass, all_compute);
  out << "\nMessages, in matrix elements for each receiver:\n";
  const auto messages = messages_of_pass(distribution, pivoting, pass, swap);
  for (const Message& message : messages) {
    out << "  " << text(message.from) << " -> " << text(message.to) << ' ' << text(message.kind) << ": "
        << message.elements;
    if (message.parts > 1) out << " in " << message.parts << " messages";
    out << "\n";
  }
  if (messages.empty()) out << "  none\n";
  out << "\n" << picture_of_pass(distribution, pivoting, pass, swap);
  return out.str();
}

}  // namespace glinpack
