#include "app/report/comparison.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/program_context.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {

namespace {

/// True if the value is clear without the parameter's name.
bool is_clear_without_name(const std::string& name) {
  static const std::set<std::string> names{"backend", "precision", "variant", "settings", "mode", "of", "what", "file"};
  return names.contains(name);
}

constexpr std::int64_t most_exact_pairs = 2500;
constexpr double rounding = 1e-9;

/// The probabilities of U = 0, 1, ... a b: the coefficients of the Gaussian binomial, divided by their sum. Computed
/// factor by factor, (1 - x^(b+i)) / (1 - x^i). As probabilities, the factors stay below 1.
std::vector<double> distribution(std::int64_t a, std::int64_t b) {
  const std::size_t size = static_cast<std::size_t>(a * b) + 1;
  std::vector<double> p(size, 0.0);
  p[0] = 1;
  for (std::int64_t i = 1; i <= a; ++i) {
    const auto up = static_cast<std::size_t>(b + i), down = static_cast<std::size_t>(i);
    for (std::size_t u = size; u-- > up;) p[u] -= p[u - up];
    for (std::size_t u = down; u < size; ++u) p[u] += p[u - down];
    const double weight = static_cast<double>(i) / static_cast<double>(b + i);
    for (double& value : p) value *= weight;
  }
  return p;
}

double confidence_of(std::int64_t trimmed, std::int64_t a, std::int64_t b) {
  return std::max(0.0, 1 - 2 * mann_whitney_at_most(trimmed, a, b));
}

/// The most ratios that can be trimmed at each end so that the others span an interval with the confidence; 0 if
/// there are too few for the confidence.
std::int64_t most_trimmed(std::int64_t a, std::int64_t b, double confidence) {
  std::int64_t trimmed = 0;
  while (trimmed + 1 < (a * b + 1) / 2 && confidence_of(trimmed + 1, a, b) >= confidence - rounding) ++trimmed;
  return trimmed;
}

double median_of(const std::vector<double>& ordered) {
  const std::size_t half = ordered.size() / 2;
  return ordered.size() % 2 == 1 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

Measurement of_run(const RunRecord& run) {
  Measurement measurement;
  measurement.parameters = parameters_of(run);
  measurement.quantity = "GFLOPS";
  if (verdict_of(run.result) == Verdict::failed) {
    measurement.failed = 1;
  } else if (run.result.gflops > 0) {
    measurement.values.push_back(run.result.gflops);
  }
  return measurement;
}

Measurement of_run(const NetworkRun& run) {
  Measurement measurement;
  measurement.parameters = parameters_of(run);
  measurement.quantity = "s";
  measurement.more_is_better = false;
  if (run.record.result.seconds > 0) measurement.values.push_back(run.record.result.seconds);
  return measurement;
}

/// A summary of repetitions.
Measurement of_summary(Parameters parameters, bool passed, const MeasuredQuantity& measured) {
  Measurement measurement;
  measurement.parameters = std::move(parameters);
  const auto& [unit, values] = measured;
  measurement.quantity = unit;
  measurement.more_is_better = unit != "us" && unit != "s";
  measurement.failed = passed ? 0 : 1;
  if (passed && values.least > 0 && values.most >= values.least) measurement.summary = values;
  return measurement;
}

/// One result of a solver of the papers.
Measurement of_solver(const std::string& mode, const JsonNode& result) {
  Parameters parameters{{"mode", mode}, {"size", result.text("size")}, {"variant", result.text("variant")}};
  if (const std::string settings = result.text("settings"); !settings.empty()) {
    parameters.emplace_back("settings", settings);
  }
  parameters.emplace_back("precision", name_of(value_of<Precision>(result.at("precision"))));
  const std::optional<JsonNode> times = result.find("times");
  return of_summary(std::move(parameters), result.boolean("passed"),
                    times ? value_of<MeasuredQuantity>(times->at("compute")) : MeasuredQuantity{"s", {}});
}

/// The device's or the host's peaks. The device may differ between files: it is not a parameter.
void add_ceilings(std::vector<Measurement>& all, const JsonNode& group, const std::string& name) {
  for (const std::string& key : group.keys()) {
    const std::optional<JsonNode> entry = group.find(key);
    if (!entry || !entry->is_object() || !entry->value().contains("median")) continue;
    all.push_back(of_summary({{"of", name}, {"what", without_controls(ceiling_name(key))}}, true,
                             value_of<MeasuredQuantity>(*entry)));
  }
}

void add_tuning(std::vector<Measurement>& all, const JsonNode& tuning) {
  const std::string name = fmt::format("{}, order {}, depth {}", name_of(value_of<Precision>(tuning.at("precision"))),
                                       tuning.whole("order"), tuning.whole("depth"));
  for (const JsonNode& trial : tuning.at("trials").items()) {
    all.push_back(of_summary({{"of", name}, {"what", trial.text("tile")}}, trial.boolean("right"),
                             value_of<MeasuredQuantity>(trial)));
  }
}

/// Repetitions, or summaries of several.
std::vector<Measurement> observations_of(const ResultFile& file) {
  const JsonNode root = file.root();
  std::vector<Measurement> all;
  switch (file.kind) {
    case ResultKind::plu:
      for (const RunRecord& run : read_runs(root)) all.push_back(of_run(run));
      break;
    case ResultKind::network:
      for (const NetworkRun& run : read_network(root).runs) all.push_back(of_run(run));
      break;
    case ResultKind::mode:
      for (const JsonNode& result : root.at("results").items()) all.push_back(of_solver(root.text("mode"), result));
      break;
    case ResultKind::peaks:
      if (const std::optional<JsonNode> device = root.find("device")) add_ceilings(all, *device, "device");
      add_ceilings(all, root.at("host"), "host");
      break;
    case ResultKind::tune:
      for (const JsonNode& tuning : root.at("tunings").items()) add_tuning(all, tuning);
      break;
    case ResultKind::trace:
      throw InputError(file.path + ": is a trace; results that --json wrote are expected");
  }
  return all;
}

std::string text_of(const RowSwap& swap) {
  return std::string(name_of(swap.kind)) +
         (swap.kind == RowSwapKind::mix ? " " + std::to_string(swap.threshold) : std::string()) +
         (swap.pieces != 1 ? " in " + std::to_string(swap.pieces) + " pieces" : std::string());
}

Parameters without(const Parameters& parameters, const std::set<std::string>& ignored) {
  Parameters kept;
  for (const auto& parameter : parameters) {
    if (!ignored.contains(parameter.first)) kept.push_back(parameter);
  }
  return kept;
}

/// The name of one parameter in which two runs differ.
std::string difference(const Parameters& first, const Parameters& second) {
  for (const auto& parameter : first) {
    if (std::find(second.begin(), second.end(), parameter) == second.end()) return parameter.first;
  }
  for (const auto& parameter : second) {
    if (std::find(first.begin(), first.end(), parameter) == first.end()) return parameter.first;
  }
  return "";
}

Finding finding_of(const RatioSpread& speed, double confidence) {
  if (!speed.reaches(confidence)) return Finding::unknown;
  if (speed.least > 1) return Finding::faster;
  if (speed.most < 1) return Finding::slower;
  return Finding::alike;
}

ComparedPair compared(const Measurement& a, const Measurement& b, double confidence) {
  ComparedPair pair{.a = a, .b = b, .speed = std::nullopt, .finding = Finding::no_result};
  const std::optional<Measured> of_a = a.spread(), of_b = b.spread();
  if (!of_a || !of_b) return pair;
  const bool all_known = !a.summary && !b.summary;
  // the ratio of times is a / b, so that a ratio above 1 means faster
  if (all_known) {
    pair.speed =
        a.more_is_better ? ratio_spread(a.values, b.values, confidence) : ratio_spread(b.values, a.values, confidence);
  } else {
    pair.speed = a.more_is_better ? ratio_spread(*of_a, *of_b) : ratio_spread(*of_b, *of_a);
  }
  pair.finding = finding_of(*pair.speed, confidence);
  return pair;
}

}  // namespace

std::set<std::string> differing(const std::vector<Parameters>& all) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> counts;
  for (const Parameters& parameters : all) {
    for (const auto& [name, value] : parameters) {
      values[name].insert(value);
      ++counts[name];
    }
  }
  std::set<std::string> names;
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1 || counts[name] < all.size()) names.insert(name);
  }
  return names;
}

std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (names.contains(name) != wanted) continue;
    text += (text.empty() ? "" : ", ") + (is_clear_without_name(name) ? value : name + " " + value);
  }
  return text;
}

Parameters parameters_of(const RunRecord& run) {
  const RunParameters& parameters = run.parameters;
  Parameters list{{"n", std::to_string(parameters.n)},
                  {"nb", std::to_string(parameters.nb)},
                  {"grid", std::to_string(run.grid.rows) + "x" + std::to_string(run.grid.columns)},
                  {"backend", run.backend},
                  {"precision", std::string(name_of(run.precision))},
                  {"pivoting", std::string(name_of(parameters.pivoting))},
                  {"panel", std::string(name_of(parameters.panel))},
                  {"broadcast", std::string(name_of(parameters.broadcast))},
                  {"order", std::string(name_of(run.order))},
                  {"matrix", std::string(name_of(run.matrix))},
                  {"row swap", text_of(parameters.row_swap)},
                  {"lookahead", std::to_string(parameters.lookahead)}};
  if (parameters.parts == RunParts::compute) list.emplace_back("compute only", "yes");
  if (run.node_grid) list.emplace_back("node grid", text_of(*run.node_grid));
  return list;
}

Parameters parameters_of(const NetworkRun& run) {
  const RunParameters& parameters = run.record.parameters;
  const GridShape& grid = run.record.grid;
  Parameters list{{"n", std::to_string(parameters.n)},
                  {"nb", std::to_string(parameters.nb)},
                  {"grid", std::to_string(grid.rows) + "x" + std::to_string(grid.columns)},
                  {"broadcast", std::string(name_of(parameters.broadcast))},
                  {"pivoting", std::string(name_of(parameters.pivoting))},
                  {"precision", std::string(name_of(run.record.precision))},
                  {"order", std::string(name_of(run.record.order))},
                  {"row swap", std::string(name_of(parameters.row_swap.kind))}};
  if (run.record.node_grid) list.emplace_back("node grid", text_of(*run.record.node_grid));
  return list;
}

double mann_whitney_at_most(std::int64_t u, std::int64_t a, std::int64_t b) {
  if (u < 0) return 0;
  if (u >= a * b) return 1;
  if (a * b <= most_exact_pairs) {
    const std::vector<double> p = distribution(a, b);
    double sum = 0;
    for (std::int64_t i = 0; i <= u; ++i) sum += p[static_cast<std::size_t>(i)];
    return sum;
  }
  const double pairs = static_cast<double>(a) * static_cast<double>(b);
  const double deviation = std::sqrt(pairs * static_cast<double>(a + b + 1) / 12);
  return 0.5 * std::erfc((pairs / 2 - static_cast<double>(u) - 0.5) / deviation / std::sqrt(2.0));
}

bool RatioSpread::reaches(double wanted) const { return confidence >= wanted - rounding; }

RatioSpread ratio_spread(std::span<const double> a, std::span<const double> b, double confidence) {
  std::vector<double> ratios;
  ratios.reserve(a.size() * b.size());
  for (const double of_b : b) {
    for (const double of_a : a) ratios.push_back(of_b / of_a);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto count_a = static_cast<std::int64_t>(a.size()), count_b = static_cast<std::int64_t>(b.size());
  const std::int64_t trimmed = most_trimmed(count_a, count_b, confidence);
  const auto place = static_cast<std::size_t>(trimmed);
  return {median_of(ratios), ratios[place], ratios[ratios.size() - 1 - place],
          confidence_of(trimmed, count_a, count_b)};
}

RatioSpread ratio_spread(const Measured& a, const Measured& b) {
  return {b.median / a.median, b.least / a.most, b.most / a.least, confidence_of(0, a.repetitions, b.repetitions)};
}

std::optional<Measured> Measurement::spread() const {
  if (summary) return summary;
  if (values.empty()) return std::nullopt;
  return spread_of(values);
}

std::vector<Measurement> measurements_of(const ResultFile& file, const std::set<std::string>& ignored) {
  std::vector<Measurement> measurements;
  std::vector<Parameters> whole;  // of the first run of each group
  std::map<Parameters, std::size_t> places;
  for (Measurement& one : observations_of(file)) {
    const Parameters all = one.parameters;
    one.parameters = without(all, ignored);
    const auto [place, is_new] = places.try_emplace(one.parameters, measurements.size());
    if (is_new) {
      measurements.push_back(std::move(one));
      whole.push_back(all);
      continue;
    }
    if (const std::string name = difference(whole[place->second], all); !name.empty()) {
      throw InputError(file.path + ": has runs that differ in " + name +
                       " alone, which --ignore leaves out; which of them to compare is not known: leave it out of "
                       "--ignore, or use a file with one of them");
    }
    Measurement& known = measurements[place->second];
    known.values.insert(known.values.end(), one.values.begin(), one.values.end());
    known.failed += one.failed;
    if (!known.summary) known.summary = one.summary;
  }
  return measurements;
}

std::string measured_text(const Measurement& measurement, std::string_view none) {
  const std::optional<Measured> spread = measurement.spread();
  if (!spread) return std::string(measurement.failed > 0 ? "FAILED" : none);
  std::string text = figures(spread->median);
  if (spread->repetitions > 1) text += fmt::format(" ({})", spread->repetitions);
  return text;
}

std::string text_of(Finding finding) {
  switch (finding) {
    case Finding::faster:
      return "b is faster";
    case Finding::slower:
      return "b is slower";
    case Finding::alike:
      return "no difference beyond the spread";
    case Finding::unknown:
      return "too few repetitions to tell";
    case Finding::no_result:
      return "no result";
  }
  return "?";
}

Comparison compare(const ResultFile& a, const ResultFile& b, const std::set<std::string>& ignored, double confidence) {
  if (a.kind != b.kind) {
    throw InputError(b.path + ": is a result of " + name_of(b.kind) + ", " + a.path + " one of " + name_of(a.kind) +
                     "; two of one kind are expected");
  }
  Comparison comparison;
  comparison.confidence = confidence;
  std::vector<Measurement> of_b = measurements_of(b, ignored);
  std::vector<bool> taken(of_b.size(), false);
  for (const Measurement& one : measurements_of(a, ignored)) {
    const auto other =
        std::find_if(of_b.begin(), of_b.end(), [&](const auto& m) { return m.parameters == one.parameters; });
    if (other == of_b.end()) {
      comparison.only_a.push_back(one);
      continue;
    }
    taken[static_cast<std::size_t>(other - of_b.begin())] = true;
    comparison.pairs.push_back(compared(one, *other, confidence));
  }
  for (std::size_t i = 0; i < of_b.size(); ++i) {
    if (!taken[i]) comparison.only_b.push_back(of_b[i]);
  }
  return comparison;
}

}  // namespace glinpack::app
