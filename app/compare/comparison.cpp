#include "app/compare/comparison.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "app/input/input_error.hpp"
#include "app/page/numbers.hpp"
#include "app/results/mode_results.hpp"
#include "app/results/network_results.hpp"

namespace glinpack::app {

namespace {

// Each reader returns one repetition, or a summary of several.

Measurement of_plu(const PluRun& run) {
  Measurement measurement;
  measurement.parameters = run.parameters;
  measurement.quantity = "GFLOPS";
  if (run.verdict == Verdict::failed) {
    measurement.failed = 1;
  } else if (run.gflops && *run.gflops > 0) {
    measurement.values.push_back(*run.gflops);
  }
  return measurement;
}

Measurement of_network(const SavedNetworkRun& run) {
  Measurement measurement;
  measurement.parameters = run.parameters;
  measurement.quantity = "s";
  measurement.more_is_better = false;
  if (run.seconds > 0) measurement.values.push_back(run.seconds);
  return measurement;
}

bool is_usable(const Measured& measured) { return measured.least > 0 && measured.most >= measured.least; }

Measurement of_mode(const std::string& mode, const ModeRow& row) {
  Measurement measurement;
  measurement.parameters = {{"mode", mode}, {"size", row.size}, {"variant", row.variant}};
  if (!row.settings.empty()) measurement.parameters.emplace_back("settings", row.settings);
  measurement.parameters.emplace_back("precision", row.precision);
  measurement.quantity = "s";
  measurement.more_is_better = false;
  measurement.failed = row.passed ? 0 : 1;
  if (row.passed && row.seconds && is_usable(*row.seconds)) measurement.summary = row.seconds;
  return measurement;
}

Measurement of_rate(const std::string& group, const MeasuredRow& row) {
  Measurement measurement;
  measurement.parameters = {{"of", group}, {"what", row.what}};
  measurement.quantity = row.unit;
  measurement.more_is_better = row.unit != "us" && row.unit != "s";
  measurement.failed = row.passed ? 0 : 1;
  if (row.passed && is_usable(row.value)) measurement.summary = row.value;
  return measurement;
}

std::vector<Measurement> of_groups(const std::vector<MeasuredGroup>& groups, bool ceilings) {
  std::vector<Measurement> all;
  for (const MeasuredGroup& group : groups) {
    // the device name may differ between the files, and may be the compared parameter
    const std::string name =
        ceilings ? group.name.substr(0, group.name.find(':')) : group.name.substr(0, group.name.find(';'));
    for (const MeasuredRow& row : group.rows) all.push_back(of_rate(name, row));
  }
  return all;
}

std::vector<Measurement> observations_of(const ResultFile& file) {
  std::vector<Measurement> all;
  switch (file.kind) {
    case ResultKind::plu:
      for (const PluRun& run : read_plu_runs(file.root())) all.push_back(of_plu(run));
      break;
    case ResultKind::network:
      for (const SavedNetworkRun& run : read_network_results(file.root()).runs) all.push_back(of_network(run));
      break;
    case ResultKind::mode: {
      const ModeResults results = read_mode_results(file.root());
      for (const ModeRow& row : results.rows) all.push_back(of_mode(results.mode, row));
      break;
    }
    case ResultKind::ceilings:
      return of_groups(read_ceilings(file.root()), true);
    case ResultKind::tune:
      return of_groups(read_tunings(file.root()), false);
    case ResultKind::trace:
      throw InputError(file.path + ": is a trace; results that --json wrote are expected");
  }
  return all;
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
