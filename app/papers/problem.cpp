#include "app/papers/problem.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "app/input/values.hpp"
#include "app/program/topology.hpp"
#include "base/user_cache.hpp"
#include "compute/ceilings.hpp"
#include "gl/gl_compute.hpp"
#include "gl/raster/drawing_rates.hpp"
#include "host/host_memory.hpp"

namespace glinpack::app {

void check_regular(Index info, Index n) {
  if (info != 0) throw NoResult(fmt::format("singular: LAPACK's getrf finds no pivot at step {} of {}", info, n));
}

DenseMatrix read_elements(const std::string& path, Precision precision, MatrixShape shape) {
  DenseMatrix matrix = read_matrix(path, view_node().available_memory, shape);
  if (precision == Precision::single) check_single_precision(path, matrix.elements, matrix.columns);
  return matrix;
}

void check_same_rows(const ModeOptions& o, const std::string& a, Index rows_a, const std::string& b, Index rows_b) {
  if (rows_a == rows_b) return;
  throw InputError(fmt::format("--input {}, --input-b {}: {} has {} rows, but {} {}; they must be the same", o.input,
                               o.input_b, a, rows_a, b, rows_b));
}

void check_on_diagonals(const std::string& path, Index row, Index column) {
  if (std::abs(row - column) <= 1) return;
  throw InputError(fmt::format(
      "--input {}: row {}, column {}: the element is not on one of the three diagonals; a tridiagonal matrix is "
      "expected",
      path, row + 1, column + 1));
}

void check_host_memory(const std::string& what, double bytes) {
  const auto available = static_cast<double>(available_memory());
  if (available <= 0 || bytes <= available) return;
  throw InputError(what + ": takes " + memory_text(bytes) + " of memory, but this host has " + memory_text(available) +
                   " available; use a smaller size");
}

void check_obstacle(const std::string& what, const std::string& obstacle) {
  if (!obstacle.empty()) throw InputError(what + ": " + obstacle);
}

DevicePeaks measure_peaks(const ModeRun& run, Precision precision) {
  constexpr MeasuringOptions measuring{.repeat = 5, .seconds = 0.25};
  const auto device = gl::open_device({.device = run.device().description().index});
  return {.fetch_rate = gl::texel_fetch_rate(run.device().context(), run.device().sources(), measuring).max,
          .flops = compute::measure_device_fma(device, ShaderSource(), precision, measuring).max};
}

namespace {

constexpr std::array<Index, 4> all_groups{32, 64, 128, 256};

NumberCache kept_groups() { return NumberCache("group"); }

std::string key_of(const std::string& mode, std::string_view variant, Precision precision,
                   const DeviceDescription& device) {
  return fmt::format("group\n{}\n{}\n{}\n{}\n{}\n{}", mode, variant, name_of(precision), device.vendor, device.renderer,
                     device.version);
}

}  // namespace

Texts every_group() {
  Texts names;
  for (const Index group : all_groups) names.push_back(std::to_string(group));
  return names;
}

Field tune_field(bool& option, const std::string& variants) {
  return {"tune", flag(option),
          "Find the fastest work group of " + variants + ", as --group all. Later runs without --group use it"};
}

Field group_field(Texts& option, const std::string& help, const std::string& default_text) {
  return {"group", names_value(option, every_group()),
          help + ". The fastest of several is named, and kept for later runs without --group; all: every number",
          "the one kept, or " + default_text};
}

void check_group(const std::string& option, const Texts& variants, const Texts& of) {
  if (std::find_first_of(variants.begin(), variants.end(), of.begin(), of.end()) != variants.end()) return;
  throw InputError(
      fmt::format("{}: the variants given have no work groups; use --variant {}", option, fmt::join(of, " or ")));
}

std::vector<std::optional<Index>> groups_of(const Texts& option, const std::string& mode, std::string_view variant,
                                            Precision precision, const DeviceDescription& device) {
  std::vector<std::optional<Index>> groups;
  for (const std::string& group : option) groups.emplace_back(std::stoi(group));
  if (!groups.empty()) return groups;
  const std::optional<double> kept = kept_groups().load(key_of(mode, variant, precision, device), 1, all_groups.back());
  const auto group = kept ? std::ranges::find(all_groups, std::lround(*kept)) : all_groups.end();
  return {group == all_groups.end() ? std::nullopt : std::optional<Index>(*group)};
}

void keep_fastest_groups(const std::string& mode, ModeRun& run) {
  std::vector<const ModeRecord*> fastest;
  for (const ModeRecord& record : run.records()) {
    if (!record.parameters.contains("group") || !record.passed() || !record.timed()) continue;
    const auto found = std::ranges::find_if(fastest, [&](const ModeRecord* other) {
      return other->size == record.size && other->variant == record.variant;
    });
    if (found == fastest.end()) {
      fastest.push_back(&record);
    } else if (record.times.compute.median < (*found)->times.compute.median) {
      *found = &record;
    }
  }
  std::string text;
  const DeviceDescription& device = run.device().description();
  for (const ModeRecord* record : fastest) {
    const std::string key = key_of(mode, record->variant, record->precision, device);
    const auto group = record->parameters.at("group").get<double>();
    kept_groups().store(key, group, device.renderer + ", " + device.version);
    const bool kept = kept_groups().load(key, group, group).has_value();
    text += "\nfastest at " + record->size + ": " + record->series() +
            (kept ? "; kept in " + kept_groups().path_of(key) : "; not kept: the cache folder cannot be written");
  }
  if (!text.empty()) run.print(text + "\n");
}

}  // namespace glinpack::app
