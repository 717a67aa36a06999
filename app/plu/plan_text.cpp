#include "app/plu/plan_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/input/hpl_dat.hpp"
#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/memory.hpp"
#include "app/program/planned_runs.hpp"
#include "app/record/text.hpp"
#include "lu/recording.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t line_width = 100;

bool same_schedule(const RunRecord& a, const RunRecord& b) {
  return a.parameters.n == b.parameters.n && a.parameters.nb == b.parameters.nb && a.grid == b.grid &&
         a.parameters.pivoting == b.parameters.pivoting && a.parameters.row_swap == b.parameters.row_swap &&
         algorithm_of(a) == algorithm_of(b) && factor_bytes(a.precision) == factor_bytes(b.precision);
}

RankOperations operations_of(const RunRecord& run, GridPosition at, Index pass) {
  return record_on_host(run.parameters, {run.grid, at}, {pass, pass + 1}, run.precision, algorithm_of(run));
}

std::vector<GridPosition> positions_in(GridShape grid) {
  std::vector<GridPosition> positions;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) positions.push_back({p, q});
  }
  return positions;
}

std::string position_text(GridPosition at) { return fmt::format("({},{})", at.row, at.column); }

/// All receivers if they are few; otherwise the ends of the list and the number of receivers.
std::string receivers_text(const std::vector<GridPosition>& receivers) {
  constexpr std::size_t max_listed = 6;
  if (receivers.size() > max_listed) {
    return fmt::format("{} {} ... {}, {} ranks", position_text(receivers[0]), position_text(receivers[1]),
                       position_text(receivers.back()), receivers.size());
  }
  std::string list;
  for (const GridPosition& to : receivers) list += (list.empty() ? "" : " ") + position_text(to);
  return list;
}

std::string_view content_of(MessageKind kind) {
  return text_by_value(kind, "P, L11, L21", "U11", "winners and the rows they displace", "U12", "pivot candidates",
                       "candidate rows", "rows");
}

std::string_view name_of(MessageKind kind) {
  return text_by_value(kind, "panel", "u11", "winners", "u12", "candidate", "tournament", "rows");
}

std::string_view way_of(MessageKind kind) {
  return text_by_value(kind, " along the process row", " down the process column", "", " down the process column",
                       " in the process column", " up the tournament's tree", " exchanged");
}

std::string ranks_text(const Distribution& distribution, Index pass, bool all_compute) {
  const auto extent = [](bool present, Index rows, Index columns) {
    return present ? fmt::format("{} x {}", rows, columns) : std::string("-");
  };
  constexpr const char* row = "{:<18} {:<10} {:<22} {:<20} {}\n";
  std::string text = fmt::format(row, "rank (row,column)", "role", "panel, rows x columns", "U12, rows x columns",
                                 "A22, rows x columns");
  for (const GridPosition at : positions_in(distribution.shape)) {
    const PassPlan plan = plan_pass(distribution, pass, at);
    text += fmt::format(row, position_text(at), name_of(plan.role),
                        extent(plan.in_pivot_column, plan.panel_rows, plan.width),
                        extent(plan.in_pivot_row || all_compute, plan.width, plan.trailing_columns),
                        extent(true, plan.trailing_rows, plan.trailing_columns));
  }
  return text;
}

/// What an operation does, in the words of the report; empty if another one says it.
std::string step_text(const Operation& operation, const RankOperations& rank) {
  if (operation.kind == Operation::Kind::wait_for_work) return "";
  if (operation.kind == Operation::Kind::compute) {
    if (operation.work > Work::reduce) return std::string(name_of(operation.work));
    return std::string(
        text_by_value(operation.work, "panel", "panel", "U12 = L11^-1 A12", "row swap", "A22 = A22 - L21 U12"));
  }
  const MessageRecord& message = rank.messages[operation.target];
  const bool starts = operation.kind == Operation::Kind::start_message;
  const bool is_exchange = message.kind == MessageKind::candidate || message.kind == MessageKind::rows;
  if (is_exchange) return starts ? fmt::format("exchanges {}", content_of(message.kind)) : "";
  if (message.receives == starts) return "";
  return fmt::format("{} {}", message.receives ? "waits for" : starts ? "sends" : "", content_of(message.kind));
}

/// The steps of a rank, in the order in which they first start.
std::string steps_text(const std::string& name, const RankOperations& rank) {
  std::string text = fmt::format("  {:<20}", name);
  std::size_t width = text.size();
  std::set<std::string> listed;
  for (const Operation& operation : rank.operations) {
    const std::string step = step_text(operation, rank);
    if (step.empty() || !listed.insert(step).second) continue;
    if (listed.size() > 1) {
      text += ';';
      ++width;
    }
    if (width + step.size() + 2 > line_width) {
      text += fmt::format("\n{:22}", "");
      width = 22;
    }
    text += ' ' + step;
    width += step.size() + 1;
  }
  return text + "\n";
}

std::string explained_pass(const RunRecord& run, Index pass) {
  const RunParameters& parameters = run.parameters;
  const Distribution distribution = distribution_of(parameters, run.grid);
  const bool all_compute = all_compute_u12(parameters.row_swap, parameters.pivoting, run.grid);
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  std::string text = fmt::format(
      "Pass {} of {} (0 ... {}): N = {}, nb = {}, grid {}x{}, {} pivoting{}{}\n"
      "Columns {} ... {} become L and U; the pivot is {}.\n\n",
      pass, distribution.passes(), distribution.passes() - 1, distribution.n, distribution.nb, run.grid.rows,
      run.grid.columns, name_of(parameters.pivoting),
      algorithm_of(run) == LuAlgorithm::row_by_row ? ", row by row" : "",
      all_compute ? ", rows exchanged by " + std::string(name_of(parameters.row_swap.kind)) : "", first.value,
      first.value + distribution.pass_width(pass) - 1, position_text(pivot_position(run.grid, pass)));
  text += ranks_text(distribution, pass, all_compute);
  const auto messages = messages_in_pass(parameters, run.grid, pass, run.precision, algorithm_of(run));
  const bool rows_move = std::ranges::any_of(messages, [](const Message& m) { return m.kind == MessageKind::rows; });
  text += fmt::format("\nMessages, in bytes for each receiver{}:\n",
                      rows_move ? "; rows as with the pivots of a random matrix" : "");
  for (const Message& message : messages) {
    text += fmt::format("  {} -> {}  {}{}: {}{}\n", position_text(message.from), receivers_text(message.to),
                        content_of(message.kind), way_of(message.kind), message.bytes,
                        message.parts > 1 ? fmt::format(" in {} messages", message.parts) : "");
  }
  text += messages.empty() ? "  none\n" : "";
  text += "\nSteps of the first rank of each role:\n";
  std::set<Role> listed;
  for (const GridPosition at : positions_in(run.grid)) {
    const Role role = role_in_pass(run.grid, pass, at);
    if (!listed.insert(role).second) continue;
    text += steps_text(fmt::format("{} {}:", name_of(role), position_text(at)), operations_of(run, at, pass));
  }
  return text;
}

nlohmann::json operation_json(const Operation& operation) {
  nlohmann::json document{{"kind", text_by_value(operation.kind, "compute", "wait for work", "start message",
                                                 "wait for data", "wait for end")}};
  if (operation.kind == Operation::Kind::compute) {
    document["work"] = name_of(operation.work);
    document["flops"] = operation.amounts.flops;
    document["bytes"] = operation.amounts.bytes;
  } else {
    document[operation.kind == Operation::Kind::wait_for_work ? "operation" : "message"] = operation.target;
  }
  return document;
}

/// `peer`: the root of a broadcast, the other end of a tournament's message.
nlohmann::json message_json(const MessageRecord& message) {
  nlohmann::json document{
      {"kind", name_of(message.kind)}, {"line", line_of(message.kind) == Line::row ? "row" : "column"},
      {"peer", message.peer},          {"receives", message.receives},
      {"bytes", message.bytes},        {"rows", nlohmann::json::array()}};
  for (const TransferRound& round : message.rounds) {
    for (const RowTransfer& transfer : round) {
      document["rows"].push_back({{"peer", transfer.process},
                                  {"receives", transfer.receives},
                                  {"bytes", transfer.rows() * message.row_bytes}});
    }
  }
  return document;
}

std::string row_of(std::size_t number, const RunRecord& run, int world_size) {
  const NeededBytes need = largest_need(run);
  const std::string row = fmt::format(
      "{:>5}  {:>13} {:>7}  {:>7}  {:<10} {:<8} {:<10} {:<18}  {:>11} {:>11}  {:>10.3e}", number, run.parameters.n,
      run.parameters.nb, text_of(run.grid), run.backend, name_of(run.precision), name_of(run.parameters.pivoting),
      name_of(run.parameters.broadcast), memory_text(need.host), memory_text(need.device), hpl_flops(run.parameters.n));
  return row + (run.grid.size() > world_size ? fmt::format("  needs {} processes\n", run.grid.size()) : "\n");
}

}  // namespace

std::vector<RunRecord> runs_to_explain(std::span<const RunRecord> planned, Index pass) {
  std::vector<RunRecord> explained;
  for (const RunRecord& run : planned) {
    const auto is_same = [&run](const RunRecord& other) { return same_schedule(run, other); };
    if (std::ranges::any_of(explained, is_same)) continue;
    explained.push_back(run);
    const Index passes = distribution_of(run.parameters, run.grid).passes();
    if (pass < passes) continue;
    throw InputError(
        fmt::format("--explain-pass: {} has the passes 0 ... {}, not {}", label_of(run), passes - 1, pass));
  }
  return explained;
}

std::string explained_passes(std::span<const RunRecord> runs, Index pass) {
  std::string text;
  for (const RunRecord& run : runs) text += (text.empty() ? "" : "\n") + explained_pass(run, pass);
  return text;
}

nlohmann::json explained_passes_json(std::span<const RunRecord> runs, Index pass) {
  nlohmann::json document{{"format", 1}, {"pass", pass}, {"runs", nlohmann::json::array()}};
  for (const RunRecord& run : runs) {
    nlohmann::json ranks = nlohmann::json::array();
    for (const GridPosition at : positions_in(run.grid)) {
      const RankOperations recorded = operations_of(run, at, pass);
      nlohmann::json operations = nlohmann::json::array(), messages = nlohmann::json::array();
      for (const Operation& operation : recorded.operations) operations.push_back(operation_json(operation));
      for (const MessageRecord& message : recorded.messages) messages.push_back(message_json(message));
      ranks.push_back({{"row", at.row},
                       {"column", at.column},
                       {"role", name_of(role_in_pass(run.grid, pass, at))},
                       {"operations", std::move(operations)},
                       {"messages", std::move(messages)}});
    }
    document["runs"].push_back({{"parameters", parameters_json(run)}, {"ranks", std::move(ranks)}});
  }
  return document;
}

std::string plan_text(std::span<const RunRecord> planned, int world_size, std::span<const std::string> remarks,
                      bool prints_all) {
  constexpr std::size_t max_rows = 20, first_rows = 10, last_rows = 5;
  std::string text =
      fmt::format("Plan: {} on {}; nothing is run.\n", counted(planned.size(), "run"), counted(world_size, "process"));
  text += fmt::format("{:>5}  {:>13} {:>7}  {:>7}  {:<10} {:<8} {:<10} {:<18}  {:>11} {:>11}  {:>10}\n", "run", "N",
                      "NB", "grid", "backend", "precis.", "pivoting", "broadcast", "host/rank", "device/rank", "flops");
  const std::size_t hidden = prints_all || planned.size() <= max_rows ? 0 : planned.size() - first_rows - last_rows;
  double flops = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    flops += hpl_flops(planned[i].parameters.n);
    if (i >= first_rows && i < first_rows + hidden) continue;
    if (hidden > 0 && i == first_rows + hidden) {
      text += fmt::format("  ...  {} more runs: --log-level debug prints all\n", hidden);
    }
    text += row_of(i + 1, planned[i], world_size);
  }
  text += fmt::format(
      "Altogether {:.3e} flops. Memory is the maximum over the ranks; backends on the processor take both kinds"
      " from the host.\n",
      flops);
  for (const std::string& remark : remarks) text += remark + "\n";
  return text;
}

std::string hpl_dat_text(std::span<const RunRecord> planned) {
  const auto add = [](auto& values, const auto& value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  const RunRecord& first = planned.front();
  HplDat hpl_dat;
  hpl_dat.order = first.order;
  hpl_dat.threshold = first.parameters.threshold;
  hpl_dat.row_swap = first.parameters.row_swap;
  hpl_dat.depth.clear();
  hpl_dat.pfact.clear();
  hpl_dat.nbmin.clear();
  hpl_dat.ndiv.clear();
  hpl_dat.rfact.clear();
  constexpr HplVariant usual{.given = true, .nbmin = 4, .ndiv = 2, .pfact = 'R', .rfact = 'C'};
  for (const RunRecord& run : planned) {
    add(hpl_dat.n, run.parameters.n);
    add(hpl_dat.nb, run.parameters.nb);
    add(hpl_dat.grids, run.grid);
    add(hpl_dat.broadcast, run.parameters.broadcast);
    add(hpl_dat.depth, run.parameters.lookahead);
    const HplVariant& variant = run.variant.given ? run.variant : usual;
    add(hpl_dat.pfact, variant.pfact);
    add(hpl_dat.nbmin, variant.nbmin);
    add(hpl_dat.ndiv, variant.ndiv);
    add(hpl_dat.rfact, variant.rfact);
  }
  return text_of(hpl_dat);
}

}  // namespace glinpack::app
