#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/page/chart.hpp"
#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_network_rows = 500;

std::string value_of(const Parameters& parameters, const std::string& name) {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return "";
}

Html runs_table(const NetworkOutcome& network) {
  Table table({{"N", Align::right},
               {"NB", Align::right},
               {"P x Q"},
               {"broadcast"},
               {"pivoting"},
               {"precision"},
               {"time", Align::right, "s"},
               {"in messages", Align::right, "%"},
               {"received", Align::right},
               {"messages", Align::right},
               {"a rank's rate", Align::right, "GB/s"}});
  const std::size_t shown = std::min(network.runs.size(), most_network_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const SavedNetworkRun& run = network.runs[i];
    std::vector<Html> cells;
    for (const char* name : {"n", "nb", "grid", "broadcast", "pivoting", "precision"})
      cells.push_back(escaped(value_of(run.parameters, name)));
    for (const std::string& text :
         {figures(run.seconds), fmt::format("{:.1f}", 100 * run.share), amount_of_bytes(run.bytes),
          fmt::format("{:.0f}", run.messages), figures(run.gigabytes_per_second)}) {
      cells.push_back(escaped(text));
    }
    table.row(cells);
  }
  if (table.empty()) return {};
  Html html = text_element("h4", "The messages of a factorisation alone") + table.html();
  if (shown < network.runs.size())
    html += text_element("p", fmt::format("The first {} of {} runs.", shown, network.runs.size()));
  return html;
}

Html ping_pong_chart(const NetworkOutcome& network) {
  std::vector<double> xs, ys;
  LineChart chart{.title = "GB/s against bytes",
                  .x_name = "bytes in a message",
                  .y_name = "GB/s, one way, the quickest round trip",
                  .x = {},
                  .y = {},
                  .series = {}};
  for (const PingPongPair& pair : network.pairs) {
    if (chart.series.size() == largest_series) break;
    Series series{.name = "ranks " + pair.name, .points = {}};
    for (const PingPongSize& size : pair.sizes) {
      if (size.gigabytes_per_second <= 0) continue;
      const double rate = size.gigabytes_per_second, bytes = static_cast<double>(size.bytes);
      series.points.push_back(
          {bytes, rate, rate, rate,
           binary_tick_text(bytes) + "B: " + duration(size.least_seconds) + ", " + figures(rate) + " GB/s"});
      xs.push_back(bytes);
      ys.push_back(rate);
    }
    chart.series.push_back(std::move(series));
  }
  if (xs.empty()) return {};
  chart.x = binary_axis(*std::min_element(xs.begin(), xs.end()), *std::max_element(xs.begin(), xs.end()), 6);
  chart.y = axis_of(ys, 6, 1);
  return text_element("h4", "Ping-pong") + line_chart(chart);
}

Html screening_table(const NetworkOutcome& network) {
  if (!network.screened) return {};
  Table table({{"link"}, {"latency", Align::right}, {"bandwidth", Align::right, "GB/s"}});
  const auto add = [&table](const LinkRow& link, const std::string& name) {
    table.row({escaped(name), escaped(duration(link.latency_seconds)), escaped(figures(link.gigabytes_per_second))});
  };
  for (const LinkRow& link : network.usual) add(link, link.name);
  for (const LinkRow& link : network.slow) add(link, "SLOW: ranks " + link.name);
  const std::string count = network.slow.empty() ? "none is slow" : fmt::format("{} slow", network.slow.size());
  return text_element("h4", fmt::format("Links: {} screened, {}", network.links, count)) + table.html();
}

}  // namespace

Html network_section(const PageData& data) {
  if (data.networks.empty()) return {};
  Html html = element("h2", {{"id", "network"}}, escaped("Network"));
  for (const auto& [file, network] : data.networks) {
    html += text_element("h3", data.files[file].name);
    if (network.waits_nap) {
      html += element("p", {{"class", "faint"}},
                      escaped("Processes outnumber cores on some node: waits nap, which times include."));
    }
    html += runs_table(network) + ping_pong_chart(network) + screening_table(network);
  }
  return html;
}

}  // namespace glinpack::app
