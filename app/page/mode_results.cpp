#include "app/page/mode_results.hpp"

#include <array>
#include <climits>
#include <utility>

namespace glinpack::app {

namespace {

/// The table name of a measured entry of ceilings.
std::string ceiling_name(const std::string& key) {
  static const std::array<std::pair<const char*, const char*>, 9> names{{{"copy", "copy, read + written"},
                                                                         {"fma_single", "fma, single"},
                                                                         {"fma_double", "fma, double"},
                                                                         {"upload", "upload"},
                                                                         {"download", "download"},
                                                                         {"dispatch", "dispatch"},
                                                                         {"read_back", "read-back"},
                                                                         {"gemm_single", "gemm, single"},
                                                                         {"gemm_double", "gemm, double"}}};
  for (const auto& [known, name] : names) {
    if (key == known) return name;
  }
  return key;
}

MeasuredGroup read_ceilings_of(const JsonNode& node, const std::string& name) {
  MeasuredGroup group{.name = name, .rows = {}};
  for (const std::string& key : node.keys()) {
    const std::optional<JsonNode> entry = node.find(key);
    if (!entry || !entry->is_object() || !entry->value().contains("median")) continue;
    group.rows.push_back({ceiling_name(key), entry->text("unit"), read_measured(*entry)});
  }
  return group;
}

ModeRow read_row(const JsonNode& node) {
  ModeRow row;
  row.variant = node.text("variant");
  row.settings = node.text("settings");
  row.size = node.text("size");
  row.precision = node.text("precision");
  row.n = node.whole("n", 1);
  row.rival = node.boolean("rival");
  if (const std::optional<JsonNode> times = node.find("times")) {
    row.seconds = read_measured(times->at("compute"));
    row.with_all = read_measured(times->at("with_all"));
  }
  row.gflops = node.optional_number("gflops");
  row.speedup = node.optional_number("speedup");
  if (const std::optional<JsonNode> check = node.find("check")) {
    row.error = check->optional_number("error");
    row.tolerance = check->number("tolerance");
    row.against = check->text("against");
  }
  row.failure = node.text_or("failure", "");
  row.passed = node.boolean("passed");
  return row;
}

}  // namespace

Measured read_measured(const JsonNode& node) {
  Measured measured;
  measured.median = node.number("median");
  measured.least = node.number("least");
  measured.most = node.number("most");
  const std::int64_t repetitions = node.whole("repetitions", 1);
  if (repetitions > INT_MAX) node.refuse("repetitions are too many");
  measured.repetitions = static_cast<int>(repetitions);
  return measured;
}

ModeResults read_mode_results(const JsonNode& root) {
  ModeResults results;
  results.mode = root.text("mode");
  if (const std::optional<JsonNode> device = root.find("device")) {
    results.device = device->text("renderer");
    results.software = device->boolean("software");
  }
  const JsonNode host = root.at("host");
  results.host = host.text("name");
  results.processor = host.text_or("processor", "");
  results.threads = host.whole("threads");
  for (const JsonNode& node : root.at("results").items()) results.rows.push_back(read_row(node));
  return results;
}

std::vector<MeasuredGroup> read_ceilings(const JsonNode& root) {
  std::vector<MeasuredGroup> groups;
  if (const std::optional<JsonNode> device = root.find("device")) {
    groups.push_back(read_ceilings_of(*device, "device: " + device->text("renderer")));
  }
  const JsonNode host = root.at("host");
  groups.push_back(read_ceilings_of(host, "host: " + host.text("name")));
  return groups;
}

std::vector<MeasuredGroup> read_tunings(const JsonNode& root) {
  std::vector<MeasuredGroup> groups;
  for (const JsonNode& tuning : root.at("tunings").items()) {
    MeasuredGroup group{.name = tuning.text("precision") + ", order " + tuning.at("order").shown() + ", depth " +
                                tuning.at("depth").shown() + "; taken: " + tuning.text("taken"),
                        .rows = {}};
    for (const JsonNode& trial : tuning.at("trials").items()) {
      group.rows.push_back({trial.text("tile"), trial.text("unit"), read_measured(trial), trial.boolean("right")});
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace glinpack::app
