#include "app/record/network_record.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "lu/no_transport.hpp"

namespace glinpack::app {

using nlohmann::json;

// The keys of docs/network.schema.json.

template <class Json>
void describe(Json& json, Traffic& traffic) {
  json("bytes", traffic.bytes);
  json("messages", traffic.messages);
  json("receiving_seconds", traffic.seconds);
  json.derived("gigabytes_per_second",
               traffic.seconds > 0 ? std::optional(traffic.bytes_per_second() * 1e-9) : std::nullopt);
}

template <class Json>
void describe(Json& json, LineTotal& total) {
  bool is_row = total.line == Line::row;
  json.choice("line", is_row, "row", "column");
  if constexpr (Json::reads) total.line = is_row ? Line::row : Line::column;
  json("index", total.index);
  json("ranks", total.ranks);
  json("seconds", total.seconds);
  describe(json, total.traffic);
}

template <class Json>
void describe(Json& json, SizeTotal& total) {
  json("phase", total.phase);
  json("at_most_bytes", total.at_most);
  json("least_seconds", total.min_seconds);
  json.derived("mean_seconds", total.traffic.seconds / total.traffic.messages);
  describe(json, total.traffic);
}

template <class Json>
void describe(Json& json, RankTotal& total) {
  json("rank", total.world_rank);
  json("row", total.row);
  json("column", total.column);
  json("host", total.host);
  json("row_seconds", total.row_seconds);
  json("column_seconds", total.column_seconds);
  describe(json, total.traffic);
}

template <class Json>
void describe(Json& json, NetworkRun& run) {
  RunResult& result = run.record.result;
  NetworkTotals& totals = run.totals;
  describe_case(json, run.record);
  json("time", result.seconds);
  json("start_time", result.start_time);
  json("end_time", result.end_time);
  json("network_share", totals.share);
  json("traffic", totals.traffic);
  json("row_seconds", totals.row_seconds);
  json("column_seconds", totals.column_seconds);
  json("rows_exchanged", totals.rows_exchanged);
  json("communicators", totals.lines);
  json("sizes", totals.sizes);
  json("ranks", totals.ranks);
}

GLINPACK_DESCRIBE(LinkEnd, rank, host)

template <class Json>
void describe(Json& json, PingPongTime& time) {
  json("bytes", time.bytes, 1);
  json("round_trips", time.round_trips);
  json("least_seconds", time.min);
  json("mean_seconds", time.mean);
  json.derived("gigabytes_per_second", time.bytes_per_second() * 1e-9);
}

template <class Json>
void describe(Json& json, PingPongRecord& record) {
  json("first", record.first);
  json("second", record.second);
  json("sizes", record.times);
}

const PingPongTime* PingPongRecord::quickest() const {
  const auto min = std::ranges::min_element(times, {}, &PingPongTime::min);
  return min == times.end() ? nullptr : &*min;
}

const PingPongTime* PingPongRecord::widest() const {
  const auto rank = [](const PingPongTime& time) {
    return std::pair(time.bytes >= long_message_bytes, time.bytes_per_second());
  };
  const auto max = std::ranges::max_element(times, {}, rank);
  return max == times.end() ? nullptr : &*max;
}

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
    total.seconds = spread_over(seconds);
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
      total.min_seconds = total.traffic.messages == 0 ? each : std::min(total.min_seconds, each);
      total.phase = interval.phase;
      total.at_most = static_cast<double>(at_most);
      add(total.traffic, interval);
    }
  }
  std::vector<SizeTotal> sizes;
  for (const auto& [key, total] : totals) sizes.push_back(total);
  return sizes;
}

LinkEnd end_of(int rank, const NetworkResults& results) {
  return {rank, results.hosts[static_cast<std::size_t>(rank)]};
}

json link_json(const Link& link, const NetworkResults& results) {
  return {{"first", json_of(end_of(link.first, results))},
          {"second", json_of(end_of(link.second, results))},
          {"latency_seconds", link.latency},
          {"gigabytes_per_second", link.bandwidth * 1e-9}};
}

json median_json(const LinkMedian& median) {
  if (median.links == 0) return {};
  return {
      {"links", median.links}, {"latency_seconds", median.latency}, {"gigabytes_per_second", median.bandwidth * 1e-9}};
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
  totals.row_seconds = spread_over(row_seconds);
  totals.column_seconds = spread_over(column_seconds);
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

json screening_json(const Screening& screening, const NetworkResults& results) {
  json links = json::array();
  json slow = json::array();
  for (const Link& link : screening.links) links.push_back(link_json(link, results));
  for (const Link& link : screening.slow) slow.push_back(link_json(link, results));
  return {{"pairs", screening.pairs},
          {"seconds", screening.seconds},
          {"together", results.screening_options.concurrent_pairs},
          {"latency_bytes", screening_latency_bytes},
          {"bandwidth_bytes", screening_bandwidth_bytes},
          {"slow_bandwidth", slow_bandwidth},
          {"slow_latency", slow_latency},
          {"within_hosts", median_json(screening.within_hosts)},
          {"between_hosts", median_json(screening.between_hosts)},
          {"slow", slow},
          {"links", links}};
}

json network_json(const ReportContext& context, const NetworkResults& results) {
  json document{{"format", 1},
                {"context", context_json(context, {results.hosts.begin(), results.hosts.end()})},
                {"waits_nap", results.oversubscribed},
                {"runs", json_of(results.runs)},
                {"ping_pong", json_of(results.ping_pongs)},
                {"screening", results.screening ? screening_json(*results.screening, results) : json()}};
  if (results.incomplete) {
    document["incomplete"] = incomplete_json(*results.incomplete);
    document["incomplete"]["links_left"] = results.incomplete->links_left;
  }
  return document;
}

NetworkResults read_network(const JsonNode& root) {
  NetworkResults results;
  read(root.at("waits_nap"), results.oversubscribed);
  read(root.at("runs"), results.runs);
  read(root.at("ping_pong"), results.ping_pongs);
  for (const JsonNode& run : root.at("runs").items()) {
    if (run.number("time") < 0) run.at("time").refuse("is below 0");
  }
  return results;
}

}  // namespace glinpack::app
