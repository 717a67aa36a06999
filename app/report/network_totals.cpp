#include "app/report/network_totals.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "lu/no_transport.hpp"

namespace glinpack::app {
namespace {

Line line_of(const Interval& interval) { return interval.phase == Phase::broadcast_l ? Line::row : Line::column; }

void add(Traffic& traffic, const Interval& interval) {
  if (interval.messages == 0) return;  // the sender's end
  traffic.bytes += static_cast<double>(interval.bytes);
  traffic.messages += interval.messages;
  traffic.seconds += interval.seconds();
}

void add(Traffic& traffic, const Traffic& more) {
  traffic.bytes += more.bytes;
  traffic.messages += more.messages;
  traffic.seconds += more.seconds;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.min = *least;
  spread.max = *most;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  return spread;
}

RankTotal rank_total(const RankRecord& rank) {
  RankTotal total;
  total.world_rank = rank.world_rank;
  total.row = rank.row;
  total.column = rank.column;
  total.host = rank.host;
  for (const Interval& interval : rank.intervals) {
    if (interval.lane != Lane::net) continue;
    (line_of(interval) == Line::row ? total.row_seconds : total.column_seconds) += interval.seconds();
    add(total.traffic, interval);
  }
  return total;
}

std::vector<LineTotal> line_totals(const RunRecord& run) {
  std::vector<LineTotal> totals;
  const auto add_line = [&](Line line, int index) {
    LineTotal total{.line = line, .index = index, .ranks = 0, .seconds = {}, .traffic = {}};
    std::vector<double> seconds;
    for (const RankRecord& rank : run.result.ranks) {
      if ((line == Line::row ? rank.row : rank.column) != index) continue;
      seconds.push_back(0);
      for (const Interval& interval : rank.intervals) {
        if (interval.lane != Lane::net || line_of(interval) != line) continue;
        seconds.back() += interval.seconds();
        add(total.traffic, interval);
      }
    }
    total.ranks = static_cast<int>(seconds.size());
    total.seconds = spread_of(seconds);
    totals.push_back(total);
  };
  for (int row = 0; row < run.grid.rows; ++row) add_line(Line::row, row);
  for (int column = 0; column < run.grid.columns; ++column) add_line(Line::column, column);
  return totals;
}

std::vector<SizeTotal> size_totals(const RunRecord& run) {
  std::map<std::pair<Phase, std::uint64_t>, SizeTotal> totals;
  for (const RankRecord& rank : run.result.ranks) {
    for (const Interval& interval : rank.intervals) {
      if (interval.lane != Lane::net || interval.messages == 0) continue;
      // rows from several ranks differ in size by one or two rows: count them as one size
      const auto size = static_cast<std::uint64_t>(interval.bytes / interval.messages);
      const std::uint64_t at_most = std::bit_ceil(size);
      const double each = interval.seconds() / interval.messages;
      SizeTotal& total = totals[{interval.phase, at_most}];
      total.least_seconds = total.traffic.messages == 0 ? each : std::min(total.least_seconds, each);
      total.phase = interval.phase;
      total.at_most = static_cast<double>(at_most);
      add(total.traffic, interval);
    }
  }
  std::vector<SizeTotal> sizes;
  for (const auto& [key, total] : totals) sizes.push_back(total);
  return sizes;
}

}  // namespace

NetworkTotals network_totals(const RunRecord& run) {
  NetworkTotals totals;
  std::vector<double> row_seconds;
  std::vector<double> column_seconds;
  double seconds = 0;
  for (const RankRecord& rank : run.result.ranks) {
    totals.ranks.push_back(rank_total(rank));
    const RankTotal& total = totals.ranks.back();
    row_seconds.push_back(total.row_seconds);
    column_seconds.push_back(total.column_seconds);
    seconds += total.row_seconds + total.column_seconds;
    add(totals.traffic, total.traffic);
  }
  const double all_seconds = run.result.seconds * static_cast<double>(run.result.ranks.size());
  totals.share = all_seconds > 0 ? std::min(1.0, seconds / all_seconds) : 0;
  totals.row_seconds = spread_of(row_seconds);
  totals.column_seconds = spread_of(column_seconds);
  totals.lines = line_totals(run);
  totals.sizes = size_totals(run);
  totals.rows_exchanged = rows_exchanged(distribution_of(run.parameters, run.grid), run.parameters.pivoting);
  return totals;
}

std::string_view messages_of(Phase phase) {
  switch (phase) {
    case Phase::broadcast_l:
      return "L along process rows";
    case Phase::broadcast_u:
      return "U down process columns";
    case Phase::panel:
      return "pivot candidates";
    case Phase::swap:
      return "rows exchanged";
    default:
      return name_of(phase);
  }
}

}  // namespace glinpack::app
