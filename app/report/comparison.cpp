#include "app/report/comparison.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/program_context.hpp"
#include "app/record/network_record.hpp"
#include "app/record/run_record.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {

namespace {

/// The probabilities of 0, 1, ... a b beaten pairs: the coefficients of the Gaussian binomial, divided by their sum.
/// Computed factor by factor, (1 - x^(b+i)) / (1 - x^i). As probabilities, the factors stay below 1.
std::vector<double> distribution(std::int64_t a, std::int64_t b) {
  std::vector<double> p(static_cast<std::size_t>(a * b) + 1, 0.0);
  p[0] = 1;
  for (std::int64_t i = 1; i <= a; ++i) {
    const auto up = static_cast<std::size_t>(b + i), down = static_cast<std::size_t>(i);
    for (std::size_t u = p.size(); u-- > up;) p[u] -= p[u - up];
    for (std::size_t u = down; u < p.size(); ++u) p[u] += p[u - down];
    for (double& value : p) value *= static_cast<double>(i) / static_cast<double>(b + i);
  }
  return p;
}

Parameters parameters_of(const RunParameters& parameters, const GridShape& grid, Precision precision, RankOrder order) {
  return {{"n", std::to_string(parameters.n)},
          {"nb", std::to_string(parameters.nb)},
          {"grid", text_of(grid)},
          {"precision", std::string(name_of(precision))},
          {"pivoting", std::string(name_of(parameters.pivoting))},
          {"broadcast", std::string(name_of(parameters.broadcast))},
          {"order", std::string(name_of(order))}};
}

std::string row_swap_text(const RowSwap& swap) {
  return std::string(name_of(swap.kind)) +
         (swap.kind == RowSwapKind::mix ? " " + std::to_string(swap.threshold) : std::string()) +
         (swap.pieces != 1 ? " in " + std::to_string(swap.pieces) + " pieces" : std::string());
}

Measurement of_run(const RunRecord& run) {
  Measurement measurement{.parameters = parameters_of(run.parameters, run.grid, run.precision, run.order),
                          .quantity = "GFLOPS"};
  Parameters& list = measurement.parameters;
  list.insert(list.begin() + 3, {"backend", run.backend});
  list.emplace_back("panel", name_of(run.parameters.panel));
  list.emplace_back("matrix", name_of(run.matrix));
  list.emplace_back("row swap", row_swap_text(run.parameters.row_swap));
  list.emplace_back("lookahead", std::to_string(run.parameters.lookahead));
  if (run.parameters.parts == RunParts::compute) list.emplace_back("compute only", "yes");
  if (run.node_grid) list.emplace_back("node grid", text_of(*run.node_grid));
  if (verdict_of(run.result) == Verdict::failed) {
    measurement.failed = 1;
  } else if (run.result.gflops > 0) {
    measurement.values.push_back(run.result.gflops);
  }
  return measurement;
}

Measurement of_run(const NetworkRun& run) {
  const RunRecord& record = run.record;
  Measurement measurement{.parameters = parameters_of(record.parameters, record.grid, record.precision, record.order),
                          .quantity = "s",
                          .more_is_better = false};
  measurement.parameters.emplace_back("row swap", name_of(record.parameters.row_swap.kind));
  if (record.node_grid) measurement.parameters.emplace_back("node grid", text_of(*record.node_grid));
  if (record.result.seconds > 0) measurement.values.push_back(record.result.seconds);
  return measurement;
}

/// A summary of repetitions.
Measurement of_summary(Parameters parameters, bool passed, const MeasuredQuantity& measured) {
  const auto& [unit, values] = measured;
  Measurement measurement{.parameters = std::move(parameters),
                          .quantity = unit,
                          .more_is_better = unit != "us" && unit != "s",
                          .failed = passed ? 0 : 1};
  if (passed && values.min > 0 && values.max >= values.min) measurement.summary = values;
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
void add_peaks(std::vector<Measurement>& all, const JsonNode& group, const std::string& name) {
  for (const std::string& key : group.keys()) {
    const std::optional<JsonNode> entry = group.find(key);
    if (!entry || !entry->is_object() || !entry->value().contains("median")) continue;
    all.push_back(of_summary({{"of", name}, {"what", without_controls(peak_name(key))}}, true,
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
      if (const std::optional<JsonNode> device = root.find("device")) add_peaks(all, *device, "device");
      add_peaks(all, root.at("host"), "host");
      break;
    case ResultKind::tune:
      for (const JsonNode& tuning : root.at("tunings").items()) add_tuning(all, tuning);
      break;
  }
  return all;
}

/// The pairs of repetitions in which b has the smaller value; half of those that are equal.
double beaten_pairs(const Measurement& a, const Measurement& b) {
  double beaten = 0;
  for (const double of_a : a.values) {
    for (const double of_b : b.values) beaten += of_b < of_a ? 1 : of_b == of_a ? 0.5 : 0;
  }
  if (!a.summary && !b.summary) return beaten;
  const Measured of_a = *a.spread(), of_b = *b.spread();
  const double pairs = static_cast<double>(of_a.repetitions) * of_b.repetitions;
  return of_b.max < of_a.min ? pairs : of_b.min > of_a.max ? 0 : pairs / 2;
}

ComparedPair compared(const Measurement& a, const Measurement& b, double confidence) {
  ComparedPair pair{.a = a, .b = b, .speed = std::nullopt};
  const std::optional<Measured> of_a = a.spread(), of_b = b.spread();
  if (!of_a || !of_b) return pair;
  constexpr double rounding = 1e-9;
  pair.speed = speed_of(a, b);
  if (1 - chance_of(0, of_a->repetitions, of_b->repetitions) < confidence - rounding) {
    pair.finding = "too few repetitions";
  } else if (pair.speed->confidence < confidence - rounding) {
    pair.finding = "no difference";
  } else {
    pair.finding = pair.speed->is_faster ? "faster" : "slower";
  }
  return pair;
}

}  // namespace

std::set<std::string> differing(const std::vector<Parameters>& all) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;  // by name and value
  for (const Parameters& parameters : all) {
    for (const auto& [name, value] : parameters) ++counts[name][value];
  }
  std::set<std::string> names;
  for (const auto& [name, values] : counts) {
    if (values.begin()->second < all.size()) names.insert(name);
  }
  return names;
}

std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted) {
  static const std::set<std::string> clear_without_name{"backend", "precision", "variant", "settings",
                                                        "mode",    "of",        "what",    "file"};
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (names.contains(name) != wanted) continue;
    text += (text.empty() ? "" : ", ") + (clear_without_name.contains(name) ? value : name + " " + value);
  }
  return text;
}

double chance_of(double beaten, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t max_exact_pairs = 2500;
  const double pairs = static_cast<double>(a * b), outer = std::min(beaten, pairs - beaten);
  if (a * b <= max_exact_pairs) {
    const std::vector<double> p = distribution(a, b);
    const auto end = p.begin() + static_cast<std::ptrdiff_t>(std::ceil(outer)) + 1;
    return std::min(1.0, 2 * std::accumulate(p.begin(), end, 0.0));
  }
  const double deviation = std::sqrt(pairs * static_cast<double>(a + b + 1) / 12);
  return std::min(1.0, std::erfc((pairs / 2 - outer - 0.5) / deviation / std::sqrt(2.0)));
}

Speed speed_of(const Measurement& a, const Measurement& b) {
  const Measured of_a = *a.spread(), of_b = *b.spread();
  const double pairs = static_cast<double>(of_a.repetitions) * of_b.repetitions, beaten = beaten_pairs(a, b);
  Speed speed{.ratio = of_b.median / of_a.median,
              .min = of_b.min / of_a.max,
              .max = of_b.max / of_a.min,
              .confidence = 1 - chance_of(beaten, of_a.repetitions, of_b.repetitions),
              .is_faster = (beaten < pairs / 2) == a.more_is_better};
  if (!a.more_is_better) {  // the ratio of times is a / b
    speed.ratio = 1 / speed.ratio;
    speed.min = 1 / std::exchange(speed.max, 1 / speed.min);
  }
  return speed;
}

std::optional<Measured> Measurement::spread() const {
  if (summary || values.empty()) return summary;
  return spread_of(values);
}

std::vector<Measurement> measurements_of(const ResultFile& file, const std::set<std::string>& ignored) {
  std::vector<Measurement> measurements;
  std::vector<Parameters> whole;  // of the first run of each group
  std::map<Parameters, std::size_t> places;
  for (Measurement& one : observations_of(file)) {
    const Parameters all = one.parameters;
    std::erase_if(one.parameters, [&](const auto& parameter) { return ignored.contains(parameter.first); });
    const auto [place, is_new] = places.try_emplace(one.parameters, measurements.size());
    if (is_new) {
      measurements.push_back(std::move(one));
      whole.push_back(all);
      continue;
    }
    if (const std::set<std::string> names = differing({whole[place->second], all}); !names.empty()) {
      throw InputError(file.path + ": has runs that differ in " + *names.begin() +
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

Comparison compare(const ResultFile& a, const ResultFile& b, const std::set<std::string>& ignored, double confidence) {
  if (a.kind != b.kind) {
    throw InputError(b.path + ": is a result of " + name_of(b.kind) + ", " + a.path + " one of " + name_of(a.kind) +
                     "; two of one kind are expected");
  }
  Comparison comparison;
  comparison.only_b = measurements_of(b, ignored);
  for (const Measurement& one : measurements_of(a, ignored)) {
    const auto other = std::ranges::find(comparison.only_b, one.parameters, &Measurement::parameters);
    if (other == comparison.only_b.end()) {
      comparison.only_a.push_back(one);
      continue;
    }
    comparison.pairs.push_back(compared(one, *other, confidence));
    comparison.only_b.erase(other);
  }
  return comparison;
}

}  // namespace glinpack::app
