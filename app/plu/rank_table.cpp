#include "app/plu/rank_table.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "app/program/agreement.hpp"
#include "app/program/topology.hpp"
#include "mpi/communication.hpp"
#include "transport/wire.hpp"

namespace glinpack::app {

namespace {

struct RankRow {
  std::string host, position, device, cores;
};

template <class Json>
void describe(Json& json, RankRow& row) {
  json("host", row.host);
  json("position", row.position);
  json("device", row.device);
  json("cores", row.cores);
}

}  // namespace

void log_ranks(const ProcessGrid& grid, const BackendInfo& info) {
  const nlohmann::json is_shown =
      run_on_root_and_broadcast([] { return nlohmann::json(spdlog::should_log(spdlog::level::debug)); });
  if (!is_shown.get<bool>()) return;
  const NodeView node = view_node();
  const GridPosition at = grid.position();
  const RankRow mine{
      .host = node.host,
      .position = grid.active() ? fmt::format("({}, {})", at.row, at.column) : "idle",
      .device = info.device_index < 0 ? info.device : fmt::format("{}: {}", info.device_index, info.device),
      .cores = ranges_text(node.cores)};
  const std::vector<RankRow> rows = gather_values(world(), mine, 0);
  constexpr const char* row = "{:>6}  {:<20} {:<12} {:<40} {}\n";
  std::string table = rows.empty() ? "" : "\n" + fmt::format(row, "rank", "host", "(p, q)", "device", "cores");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table += fmt::format(row, i, rows[i].host, rows[i].position, rows[i].device, rows[i].cores);
  }
  if (!table.empty()) spdlog::debug("{}", table);
}

std::string ranges_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return text;
}

}  // namespace glinpack::app
