#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "app/report/energy.hpp"
#include "app/report/free_text.hpp"
#include "app/report/report.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;
using sensors::known;

constexpr std::size_t most_lines = 8;  // for single GPUs

/// "CPU packages by RAPL", with "of 1 node" if other nodes were not read.
std::string covered(std::string_view what, const Coverage& machines) {
  if (machines.whole()) return fmt::format("{} by RAPL", what);
  return fmt::format("{} by RAPL (of {} node{} only)", what, machines.read, machines.read == 1 ? "" : "s");
}

std::string amount(double value) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 1); }

/// True for reasons that slow a busy GPU, and for limits that a user set.
bool is_worth_reporting(const ThrottleShare& share) {
  return (share.reason & (sensors::slowing_throttle | sensors::throttle_clock_setting)) != 0;
}

std::string gpu_line(const SensorEnergy& gpu) {
  const sensors::SensorInfo& info = gpu.record->info;
  std::string line =
      fmt::format("  {} GPU {} ({}): {} W on average, {} W at most", free_text(gpu.host), free_text(info.id),
                  free_text(info.name), amount(gpu.average_watts), amount(gpu.peak_watts));
  if (gpu.megahertz) {
    line += fmt::format("; {:.0f} MHz ({:.0f} to {:.0f})", gpu.megahertz->mean, gpu.megahertz->min, gpu.megahertz->max);
  }
  if (gpu.celsius) line += fmt::format("; {:.0f} C at most", gpu.celsius->max);
  for (const ThrottleShare& share : gpu.throttled) {
    if (!is_worth_reporting(share)) continue;
    line += fmt::format("; {} for {:.0f} % of the time", name_of(share.reason), 100 * share.share);
  }
  return line + '\n';
}

std::string warnings(const SensorEnergy& gpu) {
  std::string text;
  for (const SlowPasses& slow : gpu.slow_passes) {
    const std::string which = slow.first == slow.last ? fmt::format("pass {}", slow.first)
                                                      : fmt::format("passes {} to {}", slow.first, slow.last);
    text += fmt::format("  Warning: {} GPU {} took {:.2f} times as long for its work in {} as around: {}\n",
                        free_text(gpu.host), free_text(gpu.record->info.id), slow.factor, which,
                        reasons_text(slow.throttle));
  }
  return text;
}

json number(double value) { return known(value) ? json(value) : json(); }

json optional_json(const std::optional<Spread>& spread) { return spread ? spread_json(*spread) : json(); }

json coverage_json(const Coverage& coverage) { return {{"there", coverage.there}, {"read", coverage.read}}; }

json sensor_json(const SensorEnergy& sensor) {
  const sensors::SensorInfo& info = sensor.record->info;
  json throttled = json::array();
  for (const ThrottleShare& share : sensor.throttled) {
    throttled.push_back({{"reason", name_of(share.reason)}, {"share", share.share}});
  }
  json slow_passes = json::array();
  for (const SlowPasses& slow : sensor.slow_passes) {
    slow_passes.push_back({{"first", slow.first},
                           {"last", slow.last},
                           {"factor", slow.factor},
                           {"reasons", reasons_text(slow.throttle)}});
  }
  return {{"kind", name_of(info.kind)},
          {"id", info.id},
          {"name", info.name},
          {"source", info.source},
          {"host", sensor.host},
          {"rank", sensor.rank},
          {"joules", sensor.joules},
          {"average_watts", number(sensor.average_watts)},
          {"peak_watts", number(sensor.peak_watts)},
          {"power_limit_watts", number(info.power_limit_watts)},
          {"megahertz", optional_json(sensor.megahertz)},
          {"most_megahertz", number(info.most_core_megahertz)},
          {"celsius", optional_json(sensor.celsius)},
          {"throttled", std::move(throttled)},
          {"slow_passes", std::move(slow_passes)},
          {"samples", sensor.record->samples.size()}};
}

}  // namespace

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
    excluded.push_back(fmt::format("{} GPU{}", energy.gpus.there, energy.gpus.there == 1 ? "" : "s"));
  }
  if (energy.memory.read > 0) {
    read.push_back(covered("memory", energy.memory));
  } else {
    excluded.emplace_back("memory");
  }
  excluded.insert(excluded.end(), {"network", "power supplies"});
  const int nodes = energy.packages.there;
  return fmt::format("{} node{}: {}; not: {}", nodes, nodes == 1 ? "" : "s", fmt::join(read, ", "),
                     fmt::join(excluded, ", "));
}

std::string energy_text(const RunResult& result) {
  const std::optional<Energy> energy = energy_of(result);
  if (!energy) return {};
  std::string text = fmt::format("\nEnergy: {} J, {} W on average, {} W at most", amount(energy->joules),
                                 amount(energy->average_watts), amount(energy->peak_watts));
  if (known(energy->gflops_per_watt)) text += fmt::format("; {:.4g} GFLOPS/W", energy->gflops_per_watt);
  if (energy->rough) text += "; rough, for the run is short";
  text += fmt::format("\n  {}\n", scope_of(*energy));
  std::vector<std::string> gpus;
  for (const SensorEnergy& sensor : energy->sensors) {
    if (sensor.record->info.kind == sensors::Kind::gpu) gpus.push_back(gpu_line(sensor));
  }
  for (std::size_t i = 0; i < std::min(gpus.size(), most_lines); ++i) text += gpus[i];
  if (gpus.size() > most_lines) text += fmt::format("  and {} GPUs more: --json\n", gpus.size() - most_lines);
  for (const SensorEnergy& sensor : energy->sensors) text += warnings(sensor);
  return text;
}

json energy_json(const RunResult& result) {
  const std::optional<Energy> energy = energy_of(result);
  const std::vector<std::string> unread = unread_sensors(result);
  if (!energy && unread.empty()) return json();
  json read = json::array();
  if (energy) {
    for (const SensorEnergy& sensor : energy->sensors) read.push_back(sensor_json(sensor));
  }
  const auto value = [&](double Energy::*part) { return energy ? number((*energy).*part) : json(); };
  const auto coverage = [&](Coverage Energy::*part) { return energy ? coverage_json((*energy).*part) : json(); };
  return {{"joules", value(&Energy::joules)},
          {"average_watts", value(&Energy::average_watts)},
          {"peak_watts", value(&Energy::peak_watts)},
          {"gflops_per_watt", value(&Energy::gflops_per_watt)},
          {"rough", energy ? json(energy->rough) : json()},
          {"scope", energy ? json(scope_of(*energy)) : json()},
          {"nodes", coverage(&Energy::packages)},
          {"nodes_with_memory", coverage(&Energy::memory)},
          {"gpus", coverage(&Energy::gpus)},
          {"sensors", std::move(read)},
          {"unread", unread}};
}

}  // namespace glinpack::app
