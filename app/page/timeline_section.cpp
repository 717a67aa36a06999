#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>

#include "app/page/chart.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_runs = 4;
constexpr std::size_t most_ranks = 32;
constexpr std::array<const char*, 4> lanes{"gpu", "copy", "cpu", "net"};
constexpr std::array<Look, 5> looks{Look::pivot, Look::normalize, Look::eliminate, Look::reduce, Look::outside};

using RankLanes = std::map<std::string, std::map<Look, std::array<LaneShape, 2>>>;  // works, waits

std::map<int, RankLanes> lanes_of(const TraceRun& run) {
  std::map<int, RankLanes> ranks;
  for (const TraceInterval& interval : run.intervals) {
    if (interval.phase == "wait") continue;  // the host waits for the device
    const Look look = look_of_role(interval.role);
    auto& [works, waits] = ranks[interval.rank][interval.lane][look];
    works.look = waits.look = look;
    waits.thin = true;
    if (interval.work > interval.begin) waits.spans.push_back({interval.begin, interval.work});
    if (interval.end > interval.work) works.spans.push_back({interval.work, interval.end});
  }
  return ranks;
}

LaneGroup group_of(const std::string& name, RankLanes& rank) {
  LaneGroup group{.name = name, .lanes = {}};
  for (const char* lane : lanes) {
    const auto found = rank.find(lane);
    if (found == rank.end()) continue;
    group.lanes.push_back({.name = lane, .shapes = {}});
    for (const Look look : looks) {
      for (LaneShape& shape : found->second[look]) {
        if (!shape.spans.empty()) group.lanes.back().shapes.push_back(std::move(shape));
      }
    }
  }
  return group;
}

/// When each pass begins on its pivot process, or else on the first process.
std::vector<LaneMark> passes_of(const TraceRun& run) {
  std::map<std::int64_t, std::pair<bool, double>> begins;  // (not the pivot's, begin)
  for (const TraceInterval& interval : run.intervals) {
    if (interval.pass < 0) continue;
    const std::pair key{interval.role != "pivot", interval.begin};
    const auto [place, is_new] = begins.try_emplace(interval.pass, key);
    if (!is_new) place->second = std::min(place->second, key);
  }
  std::vector<LaneMark> marks;
  for (const auto& [pass, begin] : begins) marks.push_back({begin.second, std::to_string(pass)});
  std::stable_sort(marks.begin(), marks.end(), [](const LaneMark& a, const LaneMark& b) { return a.at < b.at; });
  return marks;
}

Html run_html(const Trace& trace, const TraceRun& run) {
  double length = 0;
  for (const TraceInterval& interval : run.intervals) length = std::max(length, interval.end);
  if (length <= 0) return {};
  std::map<int, RankLanes> ranks = lanes_of(run);
  const std::size_t all = ranks.size();
  std::vector<LaneGroup> groups;
  for (auto& [rank, its_lanes] : ranks) {
    if (groups.size() == most_ranks) break;
    const auto name = trace.ranks.find(rank);
    groups.push_back(group_of(name == trace.ranks.end() ? "rank " + std::to_string(rank) : name->second, its_lanes));
  }
  Html html = text_element("h3", run.name) + lane_chart(groups, length, passes_of(run));
  if (groups.size() < all) html += text_element("p", fmt::format("The first {} of {} ranks.", groups.size(), all));
  return html;
}

}  // namespace

Html timeline_section(const PageData& data) {
  Html html;
  for (const ResultFile& file : data.files) {
    if (file.kind != ResultKind::trace) continue;
    const std::size_t shown = std::min(file.trace.runs.size(), most_runs);
    html += element("p", {{"class", "faint"}}, escaped("Trace " + file.name));
    for (std::size_t i = 0; i < shown; ++i) html += run_html(file.trace, file.trace.runs[i]);
    if (shown < file.trace.runs.size()) {
      html += text_element("p", fmt::format("The first {} of {} runs.", shown, file.trace.runs.size()));
    }
  }
  if (html.empty()) return {};
  return element("h2", {{"id", "timeline"}}, escaped("Timeline of the passes")) +
         legend({{Look::pivot, "pivot"},
                 {Look::normalize, "normalize"},
                 {Look::eliminate, "eliminate"},
                 {Look::reduce, "reduce"},
                 {Look::outside, "outside the passes"}}) +
         R"(<p class="faint">What each rank does when, in the colour of its role in the pass: on its device (gpu), in large transfers
 (copy), on its processor (cpu), in messages (net; thin while it waits for a rank that has not begun its end). Numbers above
 are passes, each where its pivot rank begins it.</p>
)"_html + html;
}

}  // namespace glinpack::app
