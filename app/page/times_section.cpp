#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "app/page/chart.hpp"
#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_times = 80;  // as scripts/plot/network_share.py
constexpr std::size_t most_details = 40;
constexpr std::size_t most_ranks_with_times = 128;

/// Parts of a run's time, a mean over ranks: the roles, which add up to the run's time. Older files have no roles: then
/// computation, messages, waits and the rest.
TimeParts parts_of(const PluRun& run) {
  TimeParts all{.seconds = run.seconds};
  const RunTimes& times = *run.times;
  if (times.roles.empty()) {
    all.computing = times.computing;
    all.network = times.network_exposed;
    all.waiting = times.waiting;
    all.idle = std::max(0.0, run.seconds - all.computing - all.network);
    return all;
  }
  const double ranks = std::max<double>(1, static_cast<double>(run.ranks.size()));
  for (const RoleShare& role : times.roles) {
    const double weight = static_cast<double>(role.ranks) / ranks;
    all.computing += weight * role.time.computing;
    all.transfer += weight * role.time.transfer;
    all.network += weight * role.time.network;
    all.idle += weight * role.time.idle;
    all.waiting += weight * role.time.waiting;
  }
  return all;
}

std::vector<BarPart> bar_parts(const TimeParts& time) {
  return {{Look::computing, time.computing, "computing"},
          {Look::transfer, time.transfer, "transfers between host and device"},
          {Look::network, time.network, "network"},
          {Look::waiting, time.waiting, "waiting for other ranks"},
          {Look::idle, std::max(0.0, time.idle - time.waiting), "idle"}};
}

Html parts_legend() {
  return legend({{Look::computing, "computing"},
                 {Look::transfer, "transfers, nothing computed"},
                 {Look::network, "network, nothing computed or transferred"},
                 {Look::waiting, "waiting for other ranks"},
                 {Look::idle, "otherwise idle"}});
}

Html roles_legend() {
  return legend({{Look::pivot, "pivot"},
                 {Look::normalize, "normalize"},
                 {Look::eliminate, "eliminate"},
                 {Look::reduce, "reduce"},
                 {Look::outside, "outside the passes"}});
}

Html role_bars(const PluRun& run) {
  std::vector<Bar> bars;
  double longest = 0;
  for (const RoleShare& role : run.times->roles) longest = std::max(longest, role.time.seconds);
  for (const RoleShare& role : run.times->roles) {
    const std::string idle =
        role.time.seconds > 0 ? fmt::format(", idle {:.0f} %", 100 * role.time.idle / role.time.seconds) : "";
    bars.push_back(
        {.name = fmt::format("{} ({} rank{})", shown_role(role.role), role.ranks, role.ranks == 1 ? "" : "s"),
         .parts = bar_parts(role.time),
         .note = duration(role.time.seconds) + idle});
  }
  if (longest <= 0) return {};
  return text_element("h4", "Roles: a rank's time in passes in which it has the role, means over ranks") +
         parts_legend() + bar_chart(bars, longest, false);
}

Html rank_bars(const PluRun& run) {
  std::vector<Bar> bars;
  for (const RankShare& rank : run.ranks) {
    if (rank.roles.empty() || bars.size() == most_ranks_with_times) continue;
    Bar bar{.name = fmt::format("rank {} ({}, {}) on {}", rank.rank, rank.row, rank.column, rank.host),
            .parts = {},
            .note = {}};
    double idle = 0, seconds = 0;
    for (const char* name : {"pivot", "normalize", "eliminate", "reduce", "none"}) {
      for (const RoleShare& role : rank.roles) {
        if (role.role != name) continue;
        bar.parts.push_back({look_of_role(role.role), role.time.seconds, shown_role(role.role)});
        idle += role.time.idle;
        seconds += role.time.seconds;
      }
    }
    if (seconds > 0) bar.note = fmt::format("idle {:.0f} %", 100 * idle / seconds);
    bars.push_back(std::move(bar));
  }
  if (bars.empty() || run.seconds <= 0) return {};
  Html html = text_element("h4", "Ranks: which role each had for how long") + roles_legend() +
              bar_chart(bars, run.seconds, true);
  if (run.ranks.size() > bars.size()) {
    html += text_element("p", fmt::format("The first {} of {} ranks.", bars.size(), run.ranks.size()));
  }
  return html;
}

Html phase_table(const PluRun& run) {
  Table table({{"role"},
               {"phase"},
               {"lane"},
               {"least", Align::right, "s"},
               {"mean", Align::right, "s"},
               {"most", Align::right, "s"},
               {"of the run", Align::right, "%"},
               {"GFLOPS", Align::right},
               {"moved", Align::right},
               {"GB/s", Align::right}});
  for (const PhaseShare& phase : run.times->phases) {
    const double share = run.seconds > 0 ? 100 * phase.seconds.mean / run.seconds : 0;
    const bool moves = phase.bytes > 0;
    const bool computes = phase.gflops && *phase.gflops > 0;
    table.row({escaped(shown_role(phase.role)), escaped(phase.phase), escaped(phase.lane),
               escaped(figures(phase.seconds.min)), escaped(figures(phase.seconds.mean)),
               escaped(figures(phase.seconds.max)), escaped(fmt::format("{:.1f}", share)),
               escaped(computes ? figures(phase.gflops) : ""), escaped(moves ? amount_of_bytes(phase.bytes) : ""),
               escaped(moves ? figures(phase.gigabytes_per_second) : "")});
  }
  if (table.empty()) return {};
  return text_element("h4", "Phases: seconds over the ranks that have the role; lanes run at the same time") +
         table.html();
}

std::string outline(const PluRun& run) {
  std::string text =
      fmt::format("N {}, NB {}, {} x {}: {}, factorised in {}, solved in {}", run.n, run.nb, run.p, run.q,
                  duration(run.seconds), duration(run.factor_seconds), duration(run.solve_seconds));
  if (run.gflops) text += ", " + figures(*run.gflops) + " GFLOPS";
  if (run.times && run.times->network_bytes > 0) {
    text += fmt::format("; {} over the network", amount_of_bytes(run.times->network_bytes));
  }
  if (run.times && run.times->transfer_bytes > 0) {
    text += fmt::format("; {} between hosts and devices", amount_of_bytes(run.times->transfer_bytes));
  }
  return text + ".";
}

std::vector<const RunGroup*> timed(std::span<const RunGroup> groups) {
  std::vector<const RunGroup*> found;
  for (const RunGroup& group : groups) {
    if (group.middle->times && group.middle->seconds > 0) found.push_back(&group);
  }
  return found;
}

}  // namespace

Html times_section(std::span<const RunGroup> groups) {
  const std::vector<const RunGroup*> found = timed(groups);
  if (found.empty()) return {};
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(found.size(), most_times); ++i) {
    const PluRun& run = *found[i]->middle;
    const double hidden = 100 * run.times->network_hidden / run.seconds;
    const std::string note = hidden >= 0.5 ? fmt::format(", {:.0f} % network hidden", hidden) : "";
    bars.push_back({.name = found[i]->name, .parts = bar_parts(parts_of(run)), .note = duration(run.seconds) + note});
    for (BarPart& part : bars.back().parts) part.length /= run.seconds;
  }
  Html html =
      element("h2", {{"id", "times"}}, escaped("Where the time went")) + parts_legend() + bar_chart(bars, 1, true);
  if (found.size() > bars.size())
    html += text_element("p", fmt::format("The first {} of {} runs.", bars.size(), found.size()));
  return html +
         R"(<p class="faint">A bar is a run, of repetitions the one with the median time; its length is the run's time, a mean
 over ranks. A part counts where none of those before it is under way: network that is hidden behind computation stands at
 the bar's end.</p>
)"_html;
}

Html roles_section(std::span<const RunGroup> groups) {
  const std::vector<const RunGroup*> found = timed(groups);
  if (found.empty()) return {};
  Html html = element("h2", {{"id", "roles"}}, escaped("Roles, ranks and phases"));
  const std::size_t shown = std::min(found.size(), most_details);
  for (std::size_t i = 0; i < shown; ++i) {
    const PluRun& run = *found[i]->middle;
    const Html content = text_element("p", outline(run)) + role_bars(run) + rank_bars(run) + phase_table(run);
    Attributes attributes;
    if (i == 0) attributes.emplace_back("open", "");
    html += element("details", attributes, text_element("summary", found[i]->name) + "\n"_html + content) + "\n"_html;
  }
  if (shown < found.size()) html += text_element("p", fmt::format("The first {} of {} runs.", shown, found.size()));
  return html;
}

}  // namespace glinpack::app
