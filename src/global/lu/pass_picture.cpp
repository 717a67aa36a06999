// Figure 2 of the white paper as text, for any pass and grid.
#include <algorithm>
#include <array>
#include <map>

#include "lu/panel/tournament.hpp"
#include "lu/recording.hpp"

namespace glinpack {

namespace {

constexpr std::array roles_of_passes{Role::pivot, Role::normalize, Role::eliminate, Role::reduce};
constexpr std::size_t lane_width = 25;

/// The work of one role's ranks in a pass, and the number of those ranks.
struct Part {
  int ranks = 0;
  GridPosition example;
  bool factorises = false;  // has rows of the panel
  bool normalizes = false;  // computes U12 of its columns
  bool reduces = false;     // has some of A22
};

/// Messages of one kind from one role to another.
struct Flow {
  int senders = 0;
  std::size_t receivers = 0;  // of each sender
};

struct Arrow {
  MessageKind kind;
  Role from;
  Role to;
  std::string label;
  bool both_ways = false;
};

/// A column, here called lane, for each role that occurs; a line for each step.
class PassPicture {
 public:
  PassPicture(const Distribution& distribution, bool all_compute, Index pass, const std::vector<Message>& messages,
              LuAlgorithm algorithm)
      : pivot_(pivot_position(distribution.shape, pass)),
        width_(distribution.pass_width(pass)),
        all_compute_(all_compute),
        row_by_row_(algorithm == LuAlgorithm::row_by_row) {
    for (int p = 0; p < distribution.shape.rows; ++p) {
      for (int q = 0; q < distribution.shape.columns; ++q) add_rank(plan_pass(distribution, pass, {p, q}), {p, q});
    }
    for (const Message& message : messages) {
      std::map<Role, std::size_t> receivers;
      for (const GridPosition& to : message.to) ++receivers[role_in_pass(distribution.shape, pass, to)];
      for (const auto& [to, count] : receivers) {
        Flow& flow = flows_[{message.kind, role_in_pass(distribution.shape, pass, message.from), to}];
        ++flow.senders;
        flow.receivers = std::max(flow.receivers, count);
      }
    }
    for (const Role role : roles_of_passes) {
      if (parts_.contains(role)) lanes_.push_back(role);
    }
  }

  std::string draw(Pivoting pivoting) {
    head();
    if (pivots_across_processes(pivoting) && !row_by_row_) {
      panel_by_pivoting_across_processes();
    } else {
      panel_by_local_pivoting();
    }
    normalize_and_reduce();
    return text_;
  }

 private:
  using Kind = MessageKind;
  using Texts = std::map<Role, std::string>;

  void add_rank(const PassPlan& plan, GridPosition at) {
    Part& part = parts_[plan.role];
    ++part.ranks;
    part.example = at;
    part.factorises |= plan.in_pivot_column && plan.panel_rows > 0;
    part.normalizes |= (plan.in_pivot_row || all_compute_) && plan.trailing_columns > 0;
    part.reduces |= plan.trailing_rows > 0 && plan.trailing_columns > 0;
  }

  Part part(Role role) const { return parts_.contains(role) ? parts_.at(role) : Part{}; }
  bool sent(Kind kind, Role from, Role to) const { return flows_.contains({kind, from, to}); }
  std::size_t lane_of(Role role) const {
    return static_cast<std::size_t>(std::find(lanes_.begin(), lanes_.end(), role) - lanes_.begin());
  }

  void head() {
    text_ = "Which ranks wait for which. Time runs downwards; a role waits where its column has colons.\n\n";
    std::string names(lanes_.size() * lane_width, ' ');
    std::string places = names;
    for (const Role role : lanes_) {
      const int ranks = part(role).ranks;
      const std::string name(name_of(role));
      names.replace(lane_of(role) * lane_width, lane_width,
                    cell(ranks == 1 ? name : std::to_string(ranks) + " " + name));
      places.replace(lane_of(role) * lane_width, lane_width, cell(place_of(role)));
    }
    add_line(names);
    add_line(places);
    add_line("");
  }

  std::string place_of(Role role) const {
    const Part of_role = part(role);
    if (of_role.ranks == 1) {
      return "(" + std::to_string(of_role.example.row) + "," + std::to_string(of_role.example.column) + ")";
    }
    if (role == Role::normalize) return "process row " + std::to_string(pivot_.row);
    if (role == Role::eliminate) return "process column " + std::to_string(pivot_.column);
    return "all others";
  }

  void panel_by_local_pivoting() {
    wait_for(Role::normalize, {{Kind::panel, "P, L11, L21"}});
    wait_for(Role::eliminate, {{Kind::u11, "U11"}});
    wait_for(Role::reduce, {{Kind::panel, "L21"}, {Kind::u12, "U12"}});
    act({{Role::pivot, row_by_row_ ? with_a22(Role::pivot, "P, L, U") : "P, L11, U11, L21"}});
    send({{Kind::u11, Role::pivot, Role::eliminate, "U11"}});
    act({{Role::eliminate, part(Role::eliminate).factorises ? "L21 = A21 U11^-1" : ""}});
    send({{Kind::panel, Role::pivot, Role::normalize, "P, L11, L21"},
          {Kind::panel, Role::eliminate, Role::reduce, "L21"}});
    wait_for(Role::eliminate, {{Kind::u12, "U12"}});
    if (!row_by_row_) act(where_normalizing("rows exchanged by P"));
  }

  // Partial pivoting sends candidates, tournament pivoting winners.
  void panel_by_pivoting_across_processes() {
    wait_for(Role::normalize, {{Kind::panel, "P, L11, L21"}});
    wait_for(Role::reduce, {{Kind::panel, all_compute_ ? "P, L11, L21" : "P, L21"}, {Kind::u12, "U12"}});
    if (sent(Kind::candidate, Role::pivot, Role::eliminate)) {
      act({{Role::pivot, "a candidate row"}, {Role::eliminate, "a candidate row"}});
    }
    if (sent(Kind::winners, Role::pivot, Role::eliminate)) {
      act({{Role::pivot, "candidate rows"}, {Role::eliminate, "candidate rows"}});
    }
    send({{Kind::candidate, Role::pivot, Role::eliminate, "for each of " + std::to_string(width_) + " columns", true}});
    send({{Kind::winners, Role::pivot, Role::eliminate, "a tree, " + each_block(), true}});
    act({{Role::pivot, "P, L11, U11, L21"}, {Role::eliminate, part(Role::eliminate).factorises ? "P, L21" : "P"}});
    send({{Kind::panel, Role::pivot, Role::normalize, "P, L11, L21"},
          {Kind::panel, Role::eliminate, Role::reduce, all_compute_ ? "P, L" : "P, L21"}});
    if (lanes_.back() <= Role::normalize) act(where_normalizing("rows exchanged by P"));  // a single process row
    const std::string rows = all_compute_ ? "rows, by P, and U" : "rows, by P";
    send({{Kind::rows, Role::pivot, Role::eliminate, rows, true}});
    send({{Kind::rows, Role::normalize, Role::reduce, rows, true}});
    wait_for(Role::eliminate, {{Kind::u12, "U12"}});
  }

  // Row by row, the pivot has reduced A22 with its panel, and normalize ranks do all of this in one step.
  void normalize_and_reduce() {
    if (row_by_row_) {
      act({{Role::normalize, part(Role::normalize).normalizes ? with_a22(Role::normalize, "rows by P, U12") : ""}});
    } else {
      act(where_normalizing("U12 = L11^-1 A12"));
    }
    send({{Kind::u12, Role::pivot, Role::eliminate, "U12"}});
    send({{Kind::u12, Role::normalize, Role::reduce, "U12"}});
    waiting_.clear();
    Texts reductions;
    for (const Role role : lanes_) {
      const bool has_reduced = row_by_row_ && (role == Role::pivot || role == Role::normalize);
      if (part(role).reduces && !has_reduced) reductions[role] = "A22 = A22 - L21 U12";
    }
    act(reductions);
  }

  std::string with_a22(Role role, const std::string& what) const { return part(role).reduces ? what + ", A22" : what; }

  std::string each_block() const {
    const Index blocks = (width_ + tournament_columns - 1) / tournament_columns;
    return blocks == 1 ? "once" : "for each of " + std::to_string(blocks) + " blocks";
  }

  Texts where_normalizing(const std::string& what) const {
    Texts texts;
    for (const Role role : roles_of_passes) {
      if (part(role).normalizes) texts[role] = what;
    }
    return texts;
  }

  /// From here on the role waits for those of `things` that it receives; the next line names them.
  void wait_for(Role role, const std::vector<std::pair<Kind, std::string>>& things) {
    std::string list;
    for (const auto& [kind, name] : things) {
      const bool comes = std::any_of(roles_of_passes.begin(), roles_of_passes.end(),
                                     [&, k = kind](Role from) { return sent(k, from, role); });
      if (!comes) continue;
      list += (list.empty() ? "" : ", ") + name;
      waiting_[role].push_back(kind);
    }
    if (!list.empty()) awaited_[role] = ": waits for " + list;
  }

  /// A line with the actions of some roles, unless all are idle; the other roles wait or are idle.
  void act(const Texts& doing) {
    const bool any = std::any_of(doing.begin(), doing.end(), [this](const auto& entry) {
      return parts_.contains(entry.first) && !entry.second.empty();
    });
    if (!any) return;
    std::string line = quiet_line();
    for (const auto& [role, what] : awaited_) line.replace(lane_of(role) * lane_width, lane_width, cell(what));
    awaited_.clear();
    for (const auto& [role, what] : doing) {
      if (parts_.contains(role) && !what.empty()) line.replace(lane_of(role) * lane_width, lane_width, cell(what));
    }
    add_line(line);
  }

  /// A line with arrows that do not cross each other.
  void send(const std::vector<Arrow>& arrows) {
    std::string line = quiet_line();
    bool any = false;
    for (const Arrow& arrow : arrows) {
      if (!sent(arrow.kind, arrow.from, arrow.to)) continue;
      any = true;
      const Flow flow = flows_.at({arrow.kind, arrow.from, arrow.to});
      std::string label = arrow.label;
      if (!arrow.both_ways && flow.senders > 1) {
        label += ", each to " + std::to_string(flow.receivers);
      } else if (!arrow.both_ways && flow.receivers > 1) {
        label += " to " + std::to_string(flow.receivers);
      }
      draw_arrow(line, lane_of(arrow.from) * lane_width, lane_of(arrow.to) * lane_width, label, arrow.both_ways);
      std::erase(waiting_[arrow.to], arrow.kind);
    }
    if (any) add_line(line);
  }

  static void draw_arrow(std::string& line, std::size_t from, std::size_t to, const std::string& label,
                         bool both_ways) {
    for (std::size_t i = from; i < to; ++i) {
      if (line[i] == ' ') line[i] = '-';
    }
    line[from] = both_ways ? '<' : '-';
    line.replace(from + 2, label.size() + 2, " " + label + " ");
    line[to - 1] = '>';
    if (line[to] == ' ') line[to] = '|';
  }

  /// Colons for waiting roles.
  std::string quiet_line() const {
    std::string line(lanes_.size() * lane_width, ' ');
    for (const auto& [role, things] : waiting_) {
      if (parts_.contains(role) && !things.empty()) line[lane_of(role) * lane_width] = ':';
    }
    return line;
  }

  static std::string cell(const std::string& what) { return what + std::string(lane_width - what.size(), ' '); }

  void add_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + '\n';
  }

  GridPosition pivot_;
  Index width_;
  bool all_compute_;  // U12, on all process rows
  bool row_by_row_;
  std::map<Role, Part> parts_;
  std::map<std::tuple<Kind, Role, Role>, Flow> flows_;
  std::vector<Role> lanes_;
  std::map<Role, std::vector<Kind>> waiting_;
  Texts awaited_;  // of the next line
  std::string text_;
};

}  // namespace

std::string picture_of_pass(const RunParameters& parameters, GridShape grid, Index pass,
                            const std::vector<Message>& messages, LuAlgorithm algorithm) {
  const bool all_compute = all_compute_u12(parameters.row_swap, parameters.pivoting, grid);
  return PassPicture(distribution_of(parameters, grid), all_compute, pass, messages, algorithm)
      .draw(parameters.pivoting);
}

}  // namespace glinpack
