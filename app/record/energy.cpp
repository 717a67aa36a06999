#include "app/record/energy.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/input/values.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

using sensors::Kind;
using sensors::known;
using sensors::Sample;
using sensors::unknown;

// GPU counters have steps of up to a tenth of a second. In shorter runs, a step is more than five per cent of the
// energy.
constexpr double seconds_of_a_rough_run = 2.0;
constexpr int max_cells = 4096;

/// The samples with a known value.
std::vector<Point> points_of(std::span<const Sample> samples, double sensors::Reading::*value) {
  std::vector<Point> points;
  for (const Sample& sample : samples) {
    if (known(sample.reading.*value)) points.push_back({sample.seconds, sample.reading.*value});
  }
  return points;
}

/// There is at least one point.
double value_at(std::span<const Point> points, double seconds) {
  const auto after = std::ranges::lower_bound(points, seconds, {}, &Point::seconds);
  if (after == points.begin()) return after->value;
  const auto before = after - 1;
  if (after == points.end()) return before->value;
  const double part = (seconds - before->seconds) / (after->seconds - before->seconds);
  return before->value + part * (after->value - before->value);
}

bool moves(std::span<const Point> counter) {
  return counter.size() > 1 && counter.back().value > counter.front().value;
}

std::optional<Spread> spread_of(std::span<const Point> points, double seconds) {
  if (points.empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax(points, {}, &Point::value);
  return Spread{min.value, seconds > 0 ? integral(points, 0, seconds) / seconds : points.front().value, max.value};
}

/// The number of cells: at most the number of readings; ignores failed sensors.
int cells_for(const RunResult& result) {
  std::size_t fewest = max_cells;
  for (const RankRecord& rank : result.ranks) {
    for (const SensorRecord& sensor : rank.power.read) {
      if (!sensor.samples.empty()) fewest = std::min(fewest, sensor.samples.size());
    }
  }
  return static_cast<int>(std::max<std::size_t>(2, fewest)) - 1;
}

SensorEnergy measured(const SensorRecord& record, const RankRecord& rank, double seconds) {
  const std::span<const Sample> samples = record.samples;
  SensorEnergy sensor;
  sensor.info = record.info;
  sensor.samples = samples.size();
  sensor.rank = rank.world_rank;
  sensor.host = rank.host;
  sensor.joules = joules_of(samples, seconds);
  sensor.average_watts = seconds > 0 ? sensor.joules / seconds : unknown;
  sensor.megahertz = spread_of(points_of(samples, &sensors::Reading::core_megahertz), seconds);
  sensor.celsius = spread_of(points_of(samples, &sensors::Reading::celsius), seconds);
  sensor.throttled = throttle_shares(samples, seconds);
  return sensor;
}

using Named = std::set<std::pair<std::string, std::string>>;

/// The number of machines on which all sensors of a kind are read.
int machines_with(Kind kind, const RunResult& result, const Energy& energy) {
  std::map<int, std::string> machine_of;
  std::set<std::string> machines, partial;
  for (const RankRecord& rank : result.ranks) {
    machine_of[rank.world_rank] = rank.power.machine;
    for (const sensors::Unread& unread : rank.power.unread) {
      if (unread.kind == kind) partial.insert(rank.power.machine);
    }
  }
  for (const SensorEnergy& sensor : energy.sensors) {
    if (sensor.info.kind == kind) machines.insert(machine_of[sensor.rank]);
  }
  for (const std::string& machine : partial) machines.erase(machine);
  return static_cast<int>(machines.size());
}

void cover(const RunResult& result, Energy& energy) {
  std::set<std::string> machines, sources;
  Named gpus;
  for (const RankRecord& rank : result.ranks) {
    machines.insert(rank.power.machine);
    if (!rank.power.gpu.empty()) gpus.insert({rank.power.machine, rank.power.gpu});
  }
  for (const SensorEnergy& sensor : energy.sensors) {
    if (sensor.info.kind != Kind::gpu) continue;
    ++energy.gpus.read;
    sources.insert(sensor.info.source);
  }
  energy.sources.assign(sources.begin(), sources.end());
  energy.gpus.there = static_cast<int>(gpus.size());
  energy.packages = {static_cast<int>(machines.size()), machines_with(Kind::package, result, energy)};
  energy.memory = {static_cast<int>(machines.size()), machines_with(Kind::dram, result, energy)};
}

/// True if flops and watts cover the same hardware: a kind is read on all machines or on none, and so are the GPUs that
/// computed, or else the processors.
bool comparable(const Energy& energy) {
  const auto all_or_none = [](const Coverage& coverage) { return coverage.whole() || coverage.read == 0; };
  if (!all_or_none(energy.packages) || !all_or_none(energy.memory) || !energy.gpus.whole()) return false;
  return energy.gpus.there > 0 || energy.packages.read > 0;
}

// The text.

constexpr std::size_t max_lines = 8;  // for single GPUs

/// "CPU packages by RAPL", with "of 1 node" if other nodes were not read.
std::string covered(std::string_view what, const Coverage& machines) {
  if (machines.whole()) return fmt::format("{} by RAPL", what);
  return fmt::format("{} by RAPL (of {} only)", what, counted(machines.read, "node"));
}

std::string amount(double value) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 1); }

std::string gpu_line(const SensorEnergy& gpu) {
  const sensors::SensorInfo& info = gpu.info;
  std::string line =
      fmt::format("  {} GPU {} ({}): {} W on average, {} W at most", free_text(gpu.host), free_text(info.id),
                  free_text(info.name), amount(gpu.average_watts), amount(gpu.peak_watts));
  if (gpu.megahertz) {
    line += fmt::format("; {:.0f} MHz ({:.0f} to {:.0f})", gpu.megahertz->mean, gpu.megahertz->min, gpu.megahertz->max);
  }
  if (gpu.celsius) line += fmt::format("; {:.0f} C at most", gpu.celsius->max);
  for (const ThrottleShare& share : gpu.throttled) {  // what slows a busy GPU, and limits that a user set
    if ((share.reason & (sensors::slowing_throttle | sensors::throttle_clock_setting)) == 0) continue;
    line += fmt::format("; {} for {:.0f} % of the time", name_of(share.reason), 100 * share.share);
  }
  return line + '\n';
}

std::string scope_of(const Energy& energy) {
  std::vector<std::string> read;
  std::vector<std::string> excluded;
  if (energy.packages.read > 0) {
    read.push_back(covered("CPU packages", energy.packages));
  } else {
    excluded.emplace_back("CPU packages");
  }
  if (energy.gpus.read > 0) {
    const std::string of = energy.gpus.whole() ? "" : fmt::format(" of {}", energy.gpus.there);
    read.push_back(fmt::format("{}{} GPU{} by {}", energy.gpus.read, of,
                               energy.gpus.read == 1 && energy.gpus.whole() ? "" : "s",
                               fmt::join(energy.sources, ", ")));
  } else if (energy.gpus.there > 0) {
    excluded.push_back(counted(energy.gpus.there, "GPU"));
  }
  if (energy.memory.read > 0) {
    read.push_back(covered("memory", energy.memory));
  } else {
    excluded.emplace_back("memory");
  }
  excluded.insert(excluded.end(), {"network", "power supplies"});
  return fmt::format("{}: {}; not: {}", counted(energy.packages.there, "node"), fmt::join(read, ", "),
                     fmt::join(excluded, ", "));
}

std::vector<std::string> unread_sensors(const RunResult& result) {
  std::set<std::pair<std::string, std::string>> said;  // by machine; avoids duplicates
  std::vector<std::string> unread;
  const auto say = [&](const RankRecord& rank, const std::string& why) {
    if (said.insert({rank.power.machine, why}).second) unread.push_back(rank.host + ": " + why);
  };
  for (const RankRecord& rank : result.ranks) {
    for (const sensors::Unread& each : rank.power.unread) say(rank, each.why);
    for (const SensorRecord& record : rank.power.read) {
      if (known(joules_of(record.samples, result.seconds))) continue;
      say(rank,
          record.info.source + " " + record.info.id +
              (record.samples.empty() ? ": was not read during the run" : ": its counter stood still during the run"));
    }
  }
  return unread;
}

}  // namespace

double integral(std::span<const Point> points, double begin, double end) {
  double sum = 0;
  Point last{begin, value_at(points, begin)};
  const auto to = [&](const Point& point) {
    sum += (point.seconds - last.seconds) * (point.value + last.value) / 2;
    last = point;
  };
  for (const Point& point : points) {
    if (point.seconds > begin && point.seconds < end) to(point);
  }
  to({end, value_at(points, end)});
  return sum;
}

double joules_of(std::span<const Sample> samples, double seconds) {
  const std::vector<Point> counter = points_of(samples, &sensors::Reading::joules);
  if (moves(counter)) return value_at(counter, seconds) - value_at(counter, 0);
  const std::vector<Point> watts = points_of(samples, &sensors::Reading::watts);
  return watts.empty() ? unknown : integral(watts, 0, seconds);
}

PowerCurve power_curve(std::span<const Sample> samples, double seconds, int cells) {
  const std::vector<Point> watts = points_of(samples, &sensors::Reading::watts);
  const std::vector<Point> counter = points_of(samples, &sensors::Reading::joules);
  if (seconds <= 0 || (watts.empty() && !moves(counter))) return {};
  PowerCurve curve;
  const double length = seconds / cells;
  for (int cell = 0; cell < cells; ++cell) {
    const double begin = cell * length;
    const double end = begin + length;
    const double joules =
        watts.empty() ? value_at(counter, end) - value_at(counter, begin) : integral(watts, begin, end);
    curve.push_back(joules / length);
  }
  return curve;
}

std::vector<ThrottleShare> throttle_shares(std::span<const Sample> samples, double seconds) {
  std::map<sensors::ThrottleReason, double> held;
  if (seconds <= 0) return {};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double begin = i == 0 ? 0 : std::max(0.0, (samples[i - 1].seconds + samples[i].seconds) / 2);
    const double end =
        i + 1 == samples.size() ? seconds : std::min(seconds, (samples[i].seconds + samples[i + 1].seconds) / 2);
    if (end <= begin) continue;
    for (const sensors::ThrottleReason reason : sensors::reasons_in(samples[i].reading.throttle)) {
      held[reason] += end - begin;
    }
  }
  held.erase(sensors::throttle_idle);
  std::vector<ThrottleShare> shares;
  for (const auto& [reason, length] : held) shares.push_back({reason, length / seconds});
  return shares;
}

void set_wall_watts(Energy& energy, double watts, double gflops) {
  energy.wall_watts = watts;
  energy.gflops_per_watt = gflops / watts;
}

std::optional<Energy> energy_of(const RunResult& result) {
  Energy energy;
  energy.unread = unread_sensors(result);
  const int cells = cells_for(result);
  PowerCurve sum(static_cast<std::size_t>(cells));
  double joules = 0;
  for (const RankRecord& rank : result.ranks) {
    for (const SensorRecord& record : rank.power.read) {
      SensorEnergy sensor = measured(record, rank, result.seconds);
      if (!known(sensor.joules)) continue;
      const PowerCurve curve = power_curve(record.samples, result.seconds, cells);
      for (std::size_t cell = 0; cell < curve.size(); ++cell) sum[cell] += curve[cell];
      if (!curve.empty()) sensor.peak_watts = *std::ranges::max_element(curve);
      joules += sensor.joules;
      energy.sensors.push_back(std::move(sensor));
    }
  }
  if (result.seconds <= 0) energy.sensors.clear();
  if (!energy.measured()) return energy.unread.empty() ? std::nullopt : std::optional(energy);
  energy.joules = joules;
  energy.average_watts = joules / result.seconds;
  // the peak is at least the average, although cells and counters round differently
  energy.peak_watts = std::max(energy.average_watts, *std::ranges::max_element(sum));
  energy.rough = result.seconds < seconds_of_a_rough_run;
  cover(result, energy);
  if (comparable(energy) && joules > 0 && result.gflops > 0) {
    energy.gflops_per_watt = result.gflops / energy.average_watts;
  }
  energy.scope = scope_of(energy);
  return energy;
}

std::string energy_text(const Energy& energy) {
  std::string text;
  if (known(energy.wall_watts)) {
    text = fmt::format("\nPower: {:g} W by a wall meter; {:.4g} GFLOPS/W\n", energy.wall_watts, energy.gflops_per_watt);
  }
  if (!energy.measured()) return text;
  text += fmt::format("\nEnergy: {} J, {} W on average, {} W at most", amount(energy.joules),
                      amount(energy.average_watts), amount(energy.peak_watts));
  if (known(energy.wall_watts)) {
    text += ", by the sensors";
  } else if (known(energy.gflops_per_watt)) {
    text += fmt::format("; {:.4g} GFLOPS/W", energy.gflops_per_watt);
  }
  if (energy.rough) text += "; rough, for the run is short";
  text += fmt::format("\n  {}\n", energy.scope);
  std::vector<std::string> gpus;
  for (const SensorEnergy& sensor : energy.sensors) {
    if (sensor.info.kind == sensors::Kind::gpu) gpus.push_back(gpu_line(sensor));
  }
  for (std::size_t i = 0; i < std::min(gpus.size(), max_lines); ++i) text += gpus[i];
  if (gpus.size() > max_lines) text += fmt::format("  and {} GPUs more: --json\n", gpus.size() - max_lines);
  return text;
}

}  // namespace glinpack::app
