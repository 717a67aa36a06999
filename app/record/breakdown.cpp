#include "app/record/breakdown.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "app/input/values.hpp"
#include "app/record/text.hpp"
#include "app/record/timeline.hpp"

namespace glinpack::app {
namespace {

/// The distribution of `time.*what` over times.
template <class Time>
Spread spread_over_times(const std::vector<Time>& times, double Time::*what) {
  std::vector<double> values;
  for (const Time& time : times) values.push_back(time.*what);
  return spread_over(values);
}

/// A kind of work; that outside the passes comes last.
using WorkKind = std::tuple<bool, Role, Phase, Lane>;

/// One rank's work.
struct Totals {
  std::map<WorkKind, PhaseWork> work;
  std::set<Role> roles{Role::none};
};

Totals totals_of(std::span<const Interval> intervals) {
  Totals totals;
  for (const Interval& interval : intervals) {
    PhaseWork& work = totals.work[{interval.role == Role::none, interval.role, interval.phase, interval.lane}];
    work.busy_seconds += interval.seconds();
    work.flops += interval.flops;
    work.bytes += static_cast<double>(interval.bytes);
    totals.roles.insert(interval.role);
  }
  return totals;
}

std::vector<PhaseTotal> combined(std::span<const Totals> ranks) {
  std::map<WorkKind, PhaseTotal> lines;
  for (const Totals& rank : ranks) {
    for (const auto& [kind, work] : rank.work) lines[kind];
  }
  std::vector<PhaseTotal> list;
  for (auto& [kind, line] : lines) {
    std::tie(std::ignore, line.role, line.phase, line.lane) = kind;
    std::vector<double> seconds;
    for (const Totals& rank : ranks) {
      if (!rank.roles.contains(line.role)) continue;
      const auto found = rank.work.find(kind);
      const PhaseWork work = found == rank.work.end() ? PhaseWork{} : found->second;
      seconds.push_back(work.busy_seconds);
      line.busy_seconds += work.busy_seconds;
      line.flops += work.flops;
      line.bytes += work.bytes;
    }
    line.ranks = static_cast<int>(seconds.size());
    line.seconds = spread_over(seconds);
    list.push_back(line);
  }
  return list;
}

bool copies(const Interval& interval) {
  return interval.phase == Phase::transfer || interval.phase == Phase::checkpoint;
}

bool computes(const Interval& interval) {
  return interval.lane != Lane::net && !copies(interval) && interval.phase != Phase::wait;
}

/// The concurrent activities of one rank, as sets of time.
struct Activities {
  TimeSet computing, transfer, network, waiting;
};

Activities activities_of(std::span<const Interval> intervals, std::span<const double> message_starts, double seconds) {
  std::vector<TimeSpan> computing, transfer, network, waiting;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& interval = intervals[i];
    if (computes(interval)) {
      computing.push_back({interval.start, interval.end});
    } else if (interval.lane == Lane::net && interval.phase != Phase::wait) {
      waiting.push_back({interval.start, message_starts[i]});
      network.push_back({message_starts[i], interval.end});
    } else if (copies(interval)) {
      transfer.push_back({interval.start, interval.end});
    }
  }
  const auto within_the_run = [seconds](std::vector<TimeSpan>& spans) {
    return common(united(std::move(spans)), {{0, seconds}});
  };
  return {within_the_run(computing), within_the_run(transfer), within_the_run(network), within_the_run(waiting)};
}

/// The times at which a rank was in passes of each role. A pass begins with its first interval, and the first pass with
/// the run.
std::array<TimeSet, all_roles.size()> role_times(std::span<const Interval> intervals, double seconds) {
  struct Begin {
    double start;
    Role role;
  };
  std::map<std::int32_t, Begin> passes;
  for (const Interval& interval : intervals) {
    const auto [pass, is_new] = passes.try_emplace(interval.pass, Begin{interval.start, interval.role});
    pass->second.start = std::min(pass->second.start, interval.start);
  }
  std::vector<Begin> begins;
  for (const auto& [pass, begin] : passes) begins.push_back(begin);
  std::ranges::sort(begins, {}, &Begin::start);
  if (begins.empty()) begins.push_back({0, Role::none});

  std::array<std::vector<TimeSpan>, all_roles.size()> spans;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const double start = i == 0 ? 0 : begins[i].start;
    const double end = i + 1 < begins.size() ? begins[i + 1].start : seconds;
    spans[static_cast<std::size_t>(begins[i].role)].push_back({start, end});
  }
  std::array<TimeSet, all_roles.size()> times;
  for (std::size_t role = 0; role < times.size(); ++role) {
    times[role] = common(united(std::move(spans[role])), {{0, seconds}});
  }
  return times;
}

RankTime time_of_rank(std::span<const Interval> intervals, std::span<const double> message_starts, double seconds) {
  const Activities rank = activities_of(intervals, message_starts, seconds);
  const TimeSet transfer_alone = subtracted(rank.transfer, rank.computing);
  const TimeSet exposed = subtracted(rank.network, rank.computing);
  const TimeSet network_alone = subtracted(exposed, rank.transfer);
  const TimeSet waiting_alone =
      subtracted(subtracted(subtracted(rank.waiting, rank.computing), rank.transfer), rank.network);

  const auto within = [&](const TimeSet& window) {
    RoleTime time;
    time.seconds = length(window);
    time.computing = length(common(rank.computing, window));
    time.transfer = length(common(transfer_alone, window));
    time.network = length(common(network_alone, window));
    time.idle = std::max(0.0, time.seconds - time.computing - time.transfer - time.network);
    time.waiting = std::min(time.idle, length(common(waiting_alone, window)));
    return time;
  };
  const RoleTime whole = within({{0, seconds}});
  RankTime time;
  time.computing = whole.computing;
  time.transfer = length(rank.transfer);
  time.network = length(rank.network);
  time.network_exposed = length(exposed);
  time.network_hidden = std::max(0.0, time.network - time.network_exposed);
  time.idle = whole.idle;
  time.waiting = whole.waiting;
  const auto windows = role_times(intervals, seconds);
  std::ranges::transform(windows, time.roles.begin(), within);
  return time;
}

/// By phase; waits belong to none.
constexpr std::array<std::optional<HplPhase>, all_phases.size()> hpl_phases{
    HplPhase::pfact, HplPhase::laswp,  HplPhase::bcast,  HplPhase::laswp, HplPhase::trsm,
    HplPhase::pfact, HplPhase::update, HplPhase::copies, HplPhase::ptrsv, HplPhase::refine,
    HplPhase::check, HplPhase::ckpt,   std::nullopt};

constexpr std::array hpl_phases_by_precedence{HplPhase::update, HplPhase::trsm,   HplPhase::laswp, HplPhase::pfact,
                                              HplPhase::ptrsv,  HplPhase::refine, HplPhase::check, HplPhase::copies,
                                              HplPhase::ckpt,   HplPhase::bcast};

/// One rank's time in one of HPL's phases.
struct HplPhaseTime {
  double seconds = 0;
  double hidden = 0;
  double flops = 0;
  double bytes = 0;
};
using HplPhaseTimes = std::array<HplPhaseTime, all_hpl_phases.size()>;

HplPhaseTimes hpl_phase_times(std::span<const Interval> intervals, std::span<const double> message_starts,
                              double seconds) {
  using SpansOfPhases = std::array<std::vector<TimeSpan>, all_hpl_phases.size()>;
  SpansOfPhases computing, copying, sending;
  HplPhaseTimes times;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& interval = intervals[i];
    const std::optional<HplPhase> phase = hpl_phases[static_cast<std::size_t>(interval.phase)];
    if (!phase) continue;
    const auto index = static_cast<std::size_t>(*phase);
    times[index].flops += interval.flops;
    times[index].bytes += static_cast<double>(interval.bytes);
    SpansOfPhases& spans = computes(interval) ? computing : interval.lane == Lane::net ? sending : copying;
    spans[index].push_back({interval.lane == Lane::net ? message_starts[i] : interval.start, interval.end});
  }
  TimeSet counted;
  for (SpansOfPhases* spans : {&computing, &copying, &sending}) {
    for (const HplPhase phase : hpl_phases_by_precedence) {
      const auto index = static_cast<std::size_t>(phase);
      const TimeSet active = common(united(std::move((*spans)[index])), {{0, seconds}});
      const double counts = length(subtracted(active, counted));
      times[index].seconds += counts;
      times[index].hidden += std::max(0.0, length(active) - counts);
      TimeSet both;
      std::merge(counted.begin(), counted.end(), active.begin(), active.end(), std::back_inserter(both),
                 [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
      counted = united(std::move(both));
    }
  }
  return times;
}

std::vector<RoleTotal> totals_by_role(std::span<const RankTime> ranks) {
  std::vector<RoleTotal> totals;
  for (const Role role : {Role::pivot, Role::normalize, Role::eliminate, Role::reduce, Role::none}) {
    std::vector<RoleTime> times;
    for (const RankTime& rank : ranks) {
      const RoleTime& time = rank.roles[static_cast<std::size_t>(role)];
      if (time.seconds > 0) times.push_back(time);
    }
    if (times.empty()) continue;
    const auto over_ranks = [&times](double RoleTime::*what) { return spread_over_times(times, what); };
    totals.push_back({role, static_cast<int>(times.size()), over_ranks(&RoleTime::seconds),
                      over_ranks(&RoleTime::computing), over_ranks(&RoleTime::transfer), over_ranks(&RoleTime::network),
                      over_ranks(&RoleTime::idle), over_ranks(&RoleTime::waiting)});
  }
  return totals;
}

std::vector<HplPhaseTotal> totals_by_hpl_phase(std::span<const HplPhaseTimes> ranks) {
  std::vector<HplPhaseTotal> totals;
  for (const HplPhase phase : all_hpl_phases) {
    std::vector<HplPhaseTime> times;
    HplPhaseTime sum;
    for (const HplPhaseTimes& rank : ranks) {
      const HplPhaseTime& time = times.emplace_back(rank[static_cast<std::size_t>(phase)]);
      sum.seconds += time.seconds + time.hidden;
      sum.flops += time.flops;
      sum.bytes += time.bytes;
    }
    const bool timed_by_hpl = phase < HplPhase::refine;
    if (sum.seconds == 0 && !timed_by_hpl) continue;
    const auto rate = [&sum](double amount) { return sum.seconds > 0 ? amount / sum.seconds * 1e-9 : 0; };
    totals.push_back({phase, spread_over_times(times, &HplPhaseTime::seconds),
                      spread_over_times(times, &HplPhaseTime::hidden), rate(sum.flops), rate(sum.bytes)});
  }
  return totals;
}

// The text.

struct Unit {
  const char* name;
  double size;
};

/// The unit of seconds: ms for short runs, so that three digits are significant.
Unit time_unit(double run_seconds) { return run_seconds < 10 ? Unit{"ms", 1e-3} : Unit{"s", 1}; }

/// Likewise for bytes.
Unit byte_unit(const Breakdown& breakdown) {
  return std::max(breakdown.network_bytes, breakdown.transfer_bytes) < 1e10 ? Unit{"MB", 1e6} : Unit{"GB", 1e9};
}

std::string title_of(const Breakdown& breakdown) {
  const Unit unit = time_unit(breakdown.seconds);
  return fmt::format("\nWhere the time went: {:.2f} {} on {}", breakdown.seconds / unit.size, unit.name,
                     counted(breakdown.ranks, "rank"));
}

/// Right-aligned after a blank; drops decimals to keep the alignment. It always has a decimal point, so that no parser
/// takes a row for one of HPL's.
std::string cell(double value, int width, int decimals) {
  std::string text;
  do {
    text = fmt::format("{:.{}f}", value, decimals);
  } while (static_cast<int>(text.size()) >= width && --decimals >= 1);
  return fmt::format(" {:>{}}", text, width - 1);
}

std::string blank(int width) { return fmt::format("{:>{}}", "-", width); }

std::string rate_cells(double flops, double bytes, double seconds, const Unit& unit) {
  std::string cells = flops > 0 && seconds > 0 ? cell(flops / seconds * 1e-9, 10, 1) : blank(10);
  cells += bytes > 0 ? cell(bytes / unit.size, 9, 3) : blank(9);
  cells += bytes > 0 && seconds > 0 ? cell(bytes / seconds * 1e-9, 8, 2) : blank(8);
  return cells;
}

/// Minimum, mean and maximum.
std::string spread_cells(const Spread& seconds, const Unit& unit) {
  return cell(seconds.min / unit.size, 9, 2) + cell(seconds.mean / unit.size, 9, 2) +
         cell(seconds.max / unit.size, 9, 2);
}

/// Their heads.
std::string spread_heads(const std::string& unit, int width) {
  return fmt::format("{:>{}}{:>{}}{:>{}}", "min" + unit, width, "mean" + unit, width, "max" + unit, width);
}

std::string time_cells(const Spread& spread, double run_seconds) {
  std::string cells = spread_cells(spread, time_unit(run_seconds));
  for (const double seconds : {spread.min, spread.mean, spread.max}) {
    cells += cell(run_seconds > 0 ? 100 * seconds / run_seconds : 0, 6, 1);
  }
  return cells;
}

std::string summary_line(std::string_view what, const Spread& spread, const Breakdown& breakdown, double flops = 0,
                         double bytes = 0) {
  return fmt::format("{:<27}", what) + time_cells(spread, breakdown.seconds) +
         rate_cells(flops, bytes, spread.mean * breakdown.ranks, byte_unit(breakdown)) + '\n';
}

const std::string rule = std::string(99, '-') + '\n';

/// Shows Role::none as "other", since "none" would read as if no work were done.
std::string_view shown_name(Role role) { return role == Role::none ? "other" : name_of(role); }

std::string role_line(const RoleTotal& total, const Unit& unit) {
  const auto share = [&total](const Spread& seconds, int width) {
    return cell(total.seconds.mean > 0 ? 100 * seconds.mean / total.seconds.mean : 0, width, 1);
  };
  return fmt::format("{:<10}{:>5}", shown_name(total.role), total.ranks) + spread_cells(total.seconds, unit) +
         share(total.computing, 8) + share(total.transfer, 7) + share(total.network, 8) + share(total.idle, 7) +
         spread_cells(total.idle, unit) + '\n';
}

constexpr std::string_view no_timeline = "No timeline was recorded: no breakdown.\n";

std::string_view description_of(HplPhase phase) {
  return text_by_value(phase, "panel factorisation", "panel broadcast", "row swaps", "U12 solve", "trailing update",
                       "backward substitution", "iterative refinement", "checksums of rows", "panels and U12",
                       "waits for checkpoints");
}

/// `hidden`: seconds; none for the idle time and the total.
std::string hpl_line(std::string_view name, std::string_view description, double mean, double max,
                     std::optional<double> hidden, double gflops, double gigabytes, double run_seconds) {
  const Unit unit = time_unit(run_seconds);
  std::string line = fmt::format("{:<7}{:<22}", name, description);
  line += cell(mean / unit.size, 10, 2) + cell(max / unit.size, 10, 2);
  line += cell(run_seconds > 0 ? 100 * mean / run_seconds : 0, 8, 1);
  line += hidden ? cell(*hidden / unit.size, 11, 2) : blank(11);
  line += gflops > 0 ? cell(gflops, 10, 1) : blank(10);
  line += gigabytes > 0 ? cell(gigabytes, 9, 2) : blank(9);
  return line + '\n';
}

}  // namespace

Spread spread_over(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [min, max] = std::ranges::minmax(values);
  return {min, std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), max};
}

Breakdown break_down(const RunResult& result) {
  Breakdown breakdown;
  breakdown.seconds = result.seconds;
  breakdown.ranks = static_cast<int>(result.ranks.size());
  const std::vector<std::vector<double>> starts = message_starts(result.ranks, result.u_comes_with_rows);
  std::vector<Totals> totals;
  std::vector<HplPhaseTimes> hpl_phases;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const std::vector<Interval>& intervals = result.ranks[rank].intervals;
    totals.push_back(totals_of(intervals));
    RankTime& time = breakdown.by_rank.emplace_back(time_of_rank(intervals, starts[rank], result.seconds));
    const std::vector<PhaseTotal> phases = combined({&totals.back(), 1});
    time.phases.assign(phases.begin(), phases.end());
    hpl_phases.push_back(hpl_phase_times(intervals, starts[rank], result.seconds));
  }
  breakdown.phases = combined(totals);
  for (const PhaseTotal& line : breakdown.phases) {
    breakdown.flops += line.flops;
    if (line.lane == Lane::net) {
      breakdown.network_bytes += line.bytes;
    } else if (line.phase == Phase::transfer) {
      breakdown.transfer_bytes += line.bytes;
    }
  }
  breakdown.roles = totals_by_role(breakdown.by_rank);
  breakdown.hpl_phases = totals_by_hpl_phase(hpl_phases);
  const auto over_ranks = [&breakdown](double RankTime::*what) { return spread_over_times(breakdown.by_rank, what); };
  breakdown.computing = over_ranks(&RankTime::computing);
  breakdown.transfer = over_ranks(&RankTime::transfer);
  breakdown.network = over_ranks(&RankTime::network);
  breakdown.network_exposed = over_ranks(&RankTime::network_exposed);
  breakdown.network_hidden = over_ranks(&RankTime::network_hidden);
  breakdown.idle = over_ranks(&RankTime::idle);
  breakdown.waiting = over_ranks(&RankTime::waiting);
  return breakdown;
}

std::string phases_text(const Breakdown& breakdown) {
  if (breakdown.phases.empty()) return std::string(no_timeline);

  const Unit unit = time_unit(breakdown.seconds);
  const std::string thin_rule = std::string(87, '-') + '\n';
  std::string text = title_of(breakdown) + ", in HPL's phases\n";
  text +=
      fmt::format("{:<29}{:>10}{:>10}{:>8}{:>11}{:>10}{:>9}\n", "phase", fmt::format("mean {}", unit.name),
                  fmt::format("max {}", unit.name), "% time", fmt::format("hidden {}", unit.name), "GFLOPS", "GB/s");
  text += thin_rule;
  double sum = breakdown.idle.mean;
  for (const HplPhaseTotal& total : breakdown.hpl_phases) {
    sum += total.seconds.mean;
    text += hpl_line(name_of(total.phase), description_of(total.phase), total.seconds.mean, total.seconds.max,
                     total.hidden.mean, total.gflops, total.gigabytes_per_second, breakdown.seconds);
  }
  const Spread& idle = breakdown.idle;
  text += hpl_line("idle", "waits and gaps", idle.mean, idle.max, std::nullopt, 0, 0, breakdown.seconds);
  text += thin_rule;
  text += hpl_line("total", "", sum, breakdown.seconds, std::nullopt, 0, 0, breakdown.seconds);
  text += "Mean and max over ranks; hidden: behind another phase. GFLOPS, GB/s: of one rank while at it.\n";
  return text;
}

std::string roles_text(const Breakdown& breakdown) {
  if (breakdown.phases.empty()) return std::string(no_timeline);

  const Unit unit = time_unit(breakdown.seconds), bytes = byte_unit(breakdown);
  const std::string heads = spread_heads(fmt::format(" {}", unit.name), 9);
  std::string text = title_of(breakdown) + "; min, mean and max over ranks, per cent of the run\n";
  text += fmt::format("{:<10}{:<13}{:<4}{}{}{:>10}{:>9}{:>8}\n", "role", "phase", "lane", heads, spread_heads("%", 6),
                      "GFLOPS", bytes.name, "GB/s");
  text += rule;
  const Role* last = nullptr;
  for (const PhaseTotal& line : breakdown.phases) {
    const bool new_role = last == nullptr || *last != line.role;
    text += fmt::format("{:<10}{:<13}{:<4}", new_role ? shown_name(line.role) : "", name_of(line.phase),
                        name_of(line.lane)) +
            time_cells(line.seconds, breakdown.seconds) + rate_cells(line.flops, line.bytes, line.busy_seconds, bytes) +
            '\n';
    last = &line.role;
  }
  text += rule;
  text += summary_line("computing", breakdown.computing, breakdown, breakdown.flops);
  text += summary_line("transfers", breakdown.transfer, breakdown, 0, breakdown.transfer_bytes);
  text += summary_line("network", breakdown.network, breakdown, 0, breakdown.network_bytes);
  text += summary_line("  exposed: nothing computed", breakdown.network_exposed, breakdown);
  text += summary_line("  hidden behind computing", breakdown.network_hidden, breakdown);
  text += summary_line("idle: waits and gaps", breakdown.idle, breakdown);
  text += summary_line("  waiting for other ranks", breakdown.waiting, breakdown);
  text += fmt::format(
      "GFLOPS, GB/s: of one rank while at it. {}: of all ranks. Lane net: waiting for others included.\n", bytes.name);
  text += "\nWaits by role: time of ranks in their passes; min, mean and max over ranks\n";
  text += fmt::format("{:>28}{:>39}{:>18}\n", "in passes", "mean, per cent of it", "idle");
  text += fmt::format("{:<10}{:>5}{}{:>8}{:>7}{:>8}{:>7}{}\n", "role", "ranks", heads, "compute", "transf", "network",
                      "idle", heads) +
          rule;
  for (const RoleTotal& total : breakdown.roles) text += role_line(total, unit);
  return text;
}

}  // namespace glinpack::app
