#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "app/report/network_report.hpp"
#include "app/report/report.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;

std::string_view order_name(RankOrder order) { return order == RankOrder::row_major ? "row-major" : "column-major"; }

json traffic_json(const Traffic& traffic) {
  const bool known = traffic.seconds > 0;
  return {{"bytes", traffic.bytes},
          {"messages", traffic.messages},
          {"receiving_seconds", traffic.seconds},
          {"gigabytes_per_second", known ? json(traffic.bytes_per_second() * 1e-9) : json()}};
}

json line_json(const LineTotal& total) {
  json line = traffic_json(total.traffic);
  line.update({{"line", total.line == Line::row ? "row" : "column"},
               {"index", total.index},
               {"ranks", total.ranks},
               {"seconds", spread_json(total.seconds)}});
  return line;
}

json size_json(const SizeTotal& total) {
  json size = traffic_json(total.traffic);
  size.update({{"phase", name_of(total.phase)},
               {"at_most_bytes", total.at_most},
               {"least_seconds", total.least_seconds},
               {"mean_seconds", total.traffic.seconds / total.traffic.messages}});
  return size;
}

json rank_json(const RankTotal& total) {
  json rank = traffic_json(total.traffic);
  rank.update({{"rank", total.world_rank},
               {"row", total.row},
               {"column", total.column},
               {"host", total.host},
               {"row_seconds", total.row_seconds},
               {"column_seconds", total.column_seconds}});
  return rank;
}

template <class Total>
json list(const std::vector<Total>& totals, json (*one)(const Total&)) {
  json all = json::array();
  for (const Total& total : totals) all.push_back(one(total));
  return all;
}

json run_json(const NetworkRun& run) {
  const RunRecord& record = run.record;
  const NetworkTotals& totals = run.totals;
  return {{"n", record.parameters.n},
          {"nb", record.parameters.nb},
          {"p", record.grid.rows},
          {"q", record.grid.columns},
          {"precision", name_of(record.precision)},
          {"pivoting", name_of(record.parameters.pivoting)},
          {"broadcast", name_of(record.parameters.broadcast)},
          {"row_swap", row_swap_json(record.parameters.row_swap)},
          {"order", order_name(record.order)},
          {"repeat", record.repeat},
          {"time", record.result.seconds},
          {"start_time", record.result.start_time},
          {"end_time", record.result.end_time},
          {"network_share", totals.share},
          {"traffic", traffic_json(totals.traffic)},
          {"row_seconds", spread_json(totals.row_seconds)},
          {"column_seconds", spread_json(totals.column_seconds)},
          {"rows_exchanged", totals.rows_exchanged},
          {"communicators", list(totals.lines, line_json)},
          {"sizes", list(totals.sizes, size_json)},
          {"ranks", list(totals.ranks, rank_json)}};
}

json end_json(int rank, const NetworkResults& results) {
  return {{"rank", rank}, {"host", results.hosts[static_cast<std::size_t>(rank)]}};
}

json ping_pong_json(const PingPongRecord& record, const NetworkResults& results) {
  json sizes = json::array();
  for (const PingPongTime& time : record.times) {
    sizes.push_back({{"bytes", time.bytes},
                     {"round_trips", time.round_trips},
                     {"least_seconds", time.least},
                     {"mean_seconds", time.mean},
                     {"gigabytes_per_second", time.bytes_per_second() * 1e-9}});
  }
  return {{"first", end_json(record.first, results)}, {"second", end_json(record.second, results)}, {"sizes", sizes}};
}

json link_json(const Link& link, const NetworkResults& results) {
  return {{"first", end_json(link.first, results)},
          {"second", end_json(link.second, results)},
          {"latency_seconds", link.latency},
          {"gigabytes_per_second", link.bandwidth * 1e-9}};
}

json median_json(const LinkMedian& median) {
  if (median.links == 0) return {};
  return {
      {"links", median.links}, {"latency_seconds", median.latency}, {"gigabytes_per_second", median.bandwidth * 1e-9}};
}

}  // namespace

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
  json ping_pongs = json::array();
  for (const PingPongRecord& record : results.ping_pongs) ping_pongs.push_back(ping_pong_json(record, results));
  json document{{"format", 1},
                {"context", context_json(context, {results.hosts.begin(), results.hosts.end()})},
                {"waits_nap", results.naps},
                {"runs", list(results.runs, run_json)},
                {"ping_pong", ping_pongs},
                {"screening", results.screening ? screening_json(*results.screening, results) : json()}};
  if (results.incomplete) {
    document["incomplete"] = incomplete_json(*results.incomplete);
    document["incomplete"]["links_left"] = results.incomplete->links_left;
  }
  return document;
}

std::string network_csv(const std::vector<NetworkRun>& runs) {
  std::string text =
      "n,nb,p,q,time,broadcast,pivoting,precision,order,repeat,network_share,bytes,messages,receiving_seconds,"
      "row_seconds,column_seconds,rows_exchanged,start_time\n";
  for (const NetworkRun& run : runs) {
    const RunRecord& record = run.record;
    const NetworkTotals& totals = run.totals;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", record.parameters.n,
                        record.parameters.nb, record.grid.rows, record.grid.columns, record.result.seconds,
                        name_of(record.parameters.broadcast), name_of(record.parameters.pivoting),
                        name_of(record.precision), order_name(record.order), record.repeat, totals.share,
                        totals.traffic.bytes, totals.traffic.messages, totals.traffic.seconds, totals.row_seconds.mean,
                        totals.column_seconds.mean, totals.rows_exchanged, record.result.start_time);
  }
  return text;
}

}  // namespace glinpack::app
