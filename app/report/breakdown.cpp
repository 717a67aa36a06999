#include "app/report/breakdown.hpp"

#include <algorithm>
#include <array>

#include "app/report/intervals.hpp"

namespace glinpack::app {
namespace {

constexpr std::size_t lane_count = 3;
constexpr std::size_t kind_count = all_roles.size() * all_phases.size() * lane_count;

std::size_t kind_of(const Interval& interval) {
  return (static_cast<std::size_t>(interval.role) * all_phases.size() + static_cast<std::size_t>(interval.phase)) *
             lane_count +
         static_cast<std::size_t>(interval.lane);
}

Role role_of(std::size_t kind) { return all_roles[kind / (lane_count * all_phases.size())]; }
Phase phase_of(std::size_t kind) { return all_phases[kind / lane_count % all_phases.size()]; }
Lane lane_of(std::size_t kind) { return static_cast<Lane>(kind % lane_count); }

/// One rank's sums.
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
  // What is outside the passes comes last.
  std::stable_partition(lines.begin(), lines.end(), [](const PhaseTotal& line) { return line.role != Role::none; });
  return lines;
}

bool computes(const Interval& interval) {
  return interval.lane != Lane::net && interval.phase != Phase::transfer && interval.phase != Phase::wait;
}

template <class Predicate>
TimeSet time_of(std::span<const Interval> intervals, double seconds, Predicate wanted) {
  std::vector<TimeSpan> spans;
  for (const Interval& interval : intervals) {
    if (wanted(interval)) spans.push_back({interval.start, interval.end});
  }
  return clipped(united(std::move(spans)), {0, seconds});
}

RankTime time_of_rank(std::span<const Interval> intervals, double seconds) {
  const TimeSet computing = time_of(intervals, seconds, computes);
  const TimeSet transfer =
      time_of(intervals, seconds, [](const Interval& i) { return i.lane != Lane::net && i.phase == Phase::transfer; });
  const TimeSet network =
      time_of(intervals, seconds, [](const Interval& i) { return i.lane == Lane::net && i.phase != Phase::wait; });
  const TimeSet busy = time_of(intervals, seconds, [](const Interval& i) { return i.phase != Phase::wait; });

  RankTime time;
  time.computing = length(computing);
  time.transfer = length(transfer);
  time.network = length(network);
  time.network_exposed = length(subtracted(network, computing));
  time.network_hidden = std::max(0.0, time.network - time.network_exposed);
  time.idle = std::max(0.0, seconds - length(busy));
  return time;
}

Spread spread(std::span<const RankTime> ranks, double RankTime::*what) {
  Spread result;
  if (ranks.empty()) return result;
  result.min = result.max = ranks.front().*what;
  double sum = 0;
  for (const RankTime& rank : ranks) {
    result.min = std::min(result.min, rank.*what);
    result.max = std::max(result.max, rank.*what);
    sum += rank.*what;
  }
  result.mean = sum / static_cast<double>(ranks.size());
  return result;
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
  std::vector<Totals> totals;
  for (const RankRecord& rank : result.ranks) {
    totals.push_back(totals_of(rank.intervals));
    breakdown.by_rank.push_back(time_of_rank(rank.intervals, result.seconds));
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
  breakdown.computing = spread(breakdown.by_rank, &RankTime::computing);
  breakdown.transfer = spread(breakdown.by_rank, &RankTime::transfer);
  breakdown.network = spread(breakdown.by_rank, &RankTime::network);
  breakdown.network_exposed = spread(breakdown.by_rank, &RankTime::network_exposed);
  breakdown.network_hidden = spread(breakdown.by_rank, &RankTime::network_hidden);
  breakdown.idle = spread(breakdown.by_rank, &RankTime::idle);
  return breakdown;
}

}  // namespace glinpack::app
