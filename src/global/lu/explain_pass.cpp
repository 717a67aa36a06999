// The schedule of a pass as text: tables of ranks and messages.
#include <algorithm>
#include <sstream>

#include "lu/recording.hpp"

namespace glinpack {

namespace {

std::string text(GridPosition at) { return "(" + std::to_string(at.row) + "," + std::to_string(at.column) + ")"; }

/// All receivers if they are few; otherwise the ends of the list and the number of receivers. At most 100 characters.
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

std::string_view text(MessageKind kind) {
  switch (kind) {
    case MessageKind::panel:
      return "P, L11, L21 along the process row";
    case MessageKind::u11:
      return "U11 down the process column";
    case MessageKind::u12:
      return "U12 down the process column";
    case MessageKind::candidate:
      return "pivot candidates in the process column";
    case MessageKind::tournament:
      return "candidate rows up the tournament's tree";
    case MessageKind::winners:
      return "winners and the rows they displace";
    case MessageKind::rows:
      return "rows exchanged";
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

std::string explain_pass(const RunParameters& parameters, GridShape grid, Index pass, Precision precision,
                         LuAlgorithm algorithm) {
  const Distribution distribution = distribution_of(parameters, grid);
  const bool all_compute = all_compute_u12(parameters.row_swap, parameters.pivoting, grid);
  const GridPosition pivot = pivot_position(grid, pass);
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  std::ostringstream out;
  out << "Pass " << pass << " of " << distribution.passes() << " (0 ... " << distribution.passes() - 1
      << "): N = " << distribution.n << ", nb = " << distribution.nb << ", grid " << grid.rows << "x" << grid.columns
      << ", " << name_of(parameters.pivoting) << " pivoting"
      << (algorithm == LuAlgorithm::row_by_row ? ", row by row" : "")
      << (all_compute ? ", rows exchanged by " + std::string(name_of(parameters.row_swap.kind)) : "") << "\n"
      << "Columns " << first.value << " ... " << first.value + distribution.pass_width(pass) - 1
      << " become L and U; the pivot is " << text(pivot) << ".\n\n";
  add_ranks(out, distribution, pass, all_compute);
  const auto messages = messages_in_pass(parameters, grid, pass, precision, algorithm);
  const bool rows_move = std::ranges::any_of(messages, [](const Message& m) { return m.kind == MessageKind::rows; });
  out << "\nMessages, in bytes for each receiver"
      << (rows_move ? "; rows as with the pivots of a random matrix:\n" : ":\n");
  for (const Message& message : messages) {
    out << "  " << text(message.from) << " -> " << text(message.to) << ' ' << text(message.kind) << ": "
        << message.bytes;
    if (message.parts > 1) out << " in " << message.parts << " messages";
    out << "\n";
  }
  if (messages.empty()) out << "  none\n";
  out << "\n" << picture_of_pass(parameters, grid, pass, messages, algorithm);
  return out.str();
}

}  // namespace glinpack
