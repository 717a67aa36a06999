#include "app/report/breakdown.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "app/report/intervals.hpp"
#include "app/report/waiting.hpp"

namespace glinpack::app {
namespace {

constexpr std::size_t lane_count = all_lanes.size();
constexpr std::size_t kind_count = all_roles.size() * all_phases.size() * lane_count;

std::size_t kind_of(const Interval& interval) {
  return (static_cast<std::size_t>(interval.role) * all_phases.size() + static_cast<std::size_t>(interval.phase)) *
             lane_count +
         static_cast<std::size_t>(interval.lane);
}

Role role_of(std::size_t kind) { return all_roles[kind / (lane_count * all_phases.size())]; }
Phase phase_of(std::size_t kind) { return all_phases[kind / lane_count % all_phases.size()]; }
Lane lane_of(std::size_t kind) { return static_cast<Lane>(kind % lane_count); }

/// Sums over one rank.
struct Totals {
  std::array<double, kind_count> seconds{};
  std::array<double, kind_count> flops{};
  std::array<double, kind_count> bytes{};
  std::array<bool, kind_count> occurred{};
  std::array<bool, all_roles.size()> has_role{};
};

Totals totals_of(std::span<const Interval> intervals) {
  Totals totals;
  totals.has_role[static_cast<std::size_t>(Role::none)] = true;
  for (const Interval& interval : intervals) {
    const std::size_t kind = kind_of(interval);
    totals.seconds[kind] += interval.seconds();
    totals.flops[kind] += interval.flops;
    totals.bytes[kind] += static_cast<double>(interval.bytes);
    totals.occurred[kind] = true;
    totals.has_role[static_cast<std::size_t>(interval.role)] = true;
  }
  return totals;
}

std::vector<PhaseTotal> combined(std::span<const Totals> ranks) {
  std::vector<PhaseTotal> lines;
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    PhaseTotal line;
    line.role = role_of(kind);
    line.phase = phase_of(kind);
    line.lane = lane_of(kind);
    bool occurred = false;
    for (const Totals& totals : ranks) {
      if (!totals.has_role[static_cast<std::size_t>(line.role)]) continue;
      const double seconds = totals.seconds[kind];
      line.seconds.min = line.ranks == 0 ? seconds : std::min(line.seconds.min, seconds);
      line.seconds.max = std::max(line.seconds.max, seconds);
      line.busy_seconds += seconds;
      line.flops += totals.flops[kind];
      line.bytes += totals.bytes[kind];
      ++line.ranks;
      occurred = occurred || totals.occurred[kind];
    }
    if (!occurred) continue;
    line.seconds.mean = line.busy_seconds / line.ranks;
    lines.push_back(line);
  }
  // Moves work outside the passes to the end.
  std::stable_partition(lines.begin(), lines.end(), [](const PhaseTotal& line) { return line.role != Role::none; });
  return lines;
}

bool computes(const Interval& interval) {
  return interval.lane != Lane::net && interval.phase != Phase::transfer && interval.phase != Phase::wait;
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
    } else if (interval.phase == Phase::transfer) {
      transfer.push_back({interval.start, interval.end});
    }
  }
  const auto within_the_run = [seconds](std::vector<TimeSpan>& spans) {
    return clipped(united(std::move(spans)), {0, seconds});
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
  std::sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.start < b.start; });
  if (begins.empty()) begins.push_back({0, Role::none});

  std::array<std::vector<TimeSpan>, all_roles.size()> spans;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const double start = i == 0 ? 0 : begins[i].start;
    const double end = i + 1 < begins.size() ? begins[i + 1].start : seconds;
    spans[static_cast<std::size_t>(begins[i].role)].push_back({start, end});
  }
  std::array<TimeSet, all_roles.size()> times;
  for (std::size_t role = 0; role < times.size(); ++role) {
    times[role] = clipped(united(std::move(spans[role])), {0, seconds});
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
  std::transform(windows.begin(), windows.end(), time.roles.begin(), within);
  return time;
}

/// The distribution of `time.*what` over times.
template <class Time>
Spread spread(std::span<const Time> times, double Time::*what) {
  Spread result;
  if (times.empty()) return result;
  result.min = result.max = times.front().*what;
  double sum = 0;
  for (const Time& time : times) {
    result.min = std::min(result.min, time.*what);
    result.max = std::max(result.max, time.*what);
    sum += time.*what;
  }
  result.mean = sum / static_cast<double>(times.size());
  return result;
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
    const auto over_ranks = [&times](double RoleTime::*what) { return spread<RoleTime>(times, what); };
    totals.push_back({role, static_cast<int>(times.size()), over_ranks(&RoleTime::seconds),
                      over_ranks(&RoleTime::computing), over_ranks(&RoleTime::transfer), over_ranks(&RoleTime::network),
                      over_ranks(&RoleTime::idle), over_ranks(&RoleTime::waiting)});
  }
  return totals;
}

}  // namespace

std::vector<PhaseTotal> phases_of(std::span<const Interval> intervals) {
  const Totals totals = totals_of(intervals);
  return combined({&totals, 1});
}

Breakdown break_down(const RunResult& result) {
  Breakdown breakdown;
  breakdown.seconds = result.seconds;
  breakdown.ranks = static_cast<int>(result.ranks.size());
  const std::vector<std::vector<double>> starts = message_starts(result.ranks, result.u_comes_with_rows);
  std::vector<Totals> totals;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const std::vector<Interval>& intervals = result.ranks[rank].intervals;
    totals.push_back(totals_of(intervals));
    breakdown.by_rank.push_back(time_of_rank(intervals, starts[rank], result.seconds));
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
  const auto over_ranks = [&breakdown](double RankTime::*what) { return spread<RankTime>(breakdown.by_rank, what); };
  breakdown.computing = over_ranks(&RankTime::computing);
  breakdown.transfer = over_ranks(&RankTime::transfer);
  breakdown.network = over_ranks(&RankTime::network);
  breakdown.network_exposed = over_ranks(&RankTime::network_exposed);
  breakdown.network_hidden = over_ranks(&RankTime::network_hidden);
  breakdown.idle = over_ranks(&RankTime::idle);
  breakdown.waiting = over_ranks(&RankTime::waiting);
  return breakdown;
}

}  // namespace glinpack::app
