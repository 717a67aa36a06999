#include "app/submission/rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace glinpack::app {
namespace {

constexpr int highest_level = 3;
constexpr double least_core_seconds = 60;
constexpr double petaflops = 1e6;  // GFLOPS

RuleStatus if_true(bool holds) { return holds ? RuleStatus::ok : RuleStatus::failed; }

std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

std::set<std::string> hosts_of(const RunRecord& run) {
  std::set<std::string> hosts;
  for (const RankRecord& rank : run.result.ranks) hosts.insert(short_name(rank.host));
  return hosts;
}

std::vector<Rule> top500_rules(const RunRecord& run) {
  const RunParameters& parameters = run.parameters;
  const RunResult& result = run.result;
  std::vector<Rule> rules;
  rules.push_back({0, "matrix", if_true(run.matrix == MatrixKind::hpl),
                   fmt::format("{}; HPL's random matrix is needed", name_of(run.matrix)), "[2]"});
  rules.push_back({0, "precision", if_true(run.precision == Precision::double_),
                   fmt::format("{}; double throughout is needed, without refinement", name_of(run.precision)), "[1]"});
  rules.push_back({0, "pivoting", if_true(parameters.pivoting == Pivoting::partial),
                   fmt::format("{}; partial is needed", name_of(parameters.pivoting)), "[1]"});
  const bool went_back = result.checksums && !result.checksums->went_back.empty();
  const bool whole = parameters.parts == RunParts::all && !result.resumed && !went_back;
  rules.push_back(
      {0, "whole run", if_true(whole),
       whole ? "factorisation and solution, 2/3 N^3 + 3/2 N^2 operations"
             : fmt::format("{}; a run from start to end is needed", went_back        ? "went back to a checkpoint"
                                                                    : result.resumed ? "resumed from a checkpoint"
                                                                                     : "--compute-only"),
       "[1]"});
  const bool answered = result.checked && !result.singular_column;
  const bool small = answered && result.passed && result.residual.scaled < 16.0;
  rules.push_back({0, "residual", if_true(small),
                   answered ? fmt::format("{:.3g}; below 16 is needed{}", result.residual.scaled,
                                          result.passed ? "" : ", and the run FAILED")
                            : std::string("not checked; a threshold of 16 is needed"),
                   "[2]"});
  const double counted = hpl_flops(parameters.n) / result.seconds * 1e-9;
  const bool fits = !whole || std::fabs(result.gflops / counted - 1) < 1e-3;
  rules.push_back({0, "rate", fits && result.gflops > petaflops ? RuleStatus::unknown : RuleStatus::failed,
                   !fits ? fmt::format("{:.4g} GFLOPS in the file, {:.4g} by N and its time", result.gflops, counted)
                   : result.gflops > petaflops
                       ? fmt::format("{:.5g} GFLOPS; compare with system 500 of the current list", result.gflops)
                       : fmt::format("{:.4g} GFLOPS; more than 1000000 are needed", result.gflops),
                   "[3]"});
  rules.push_back(
      {0, "machine", RuleStatus::unknown, "complete machine.txt; the run must use all nodes of the system", "[1]"});
  return rules;
}

Rule samples_rule(double core_seconds, const PowerEvidence& evidence) {
  const double interval = evidence.power.interval;
  const std::optional<bool>& averaged = evidence.facts.averaged;
  const std::string found = fmt::format("a reading every {:.3g} s", interval);
  constexpr double a_second = 1.05;  // the methodology allows a sine wave more
  if (interval <= a_second) return {1, "samples", RuleStatus::ok, found + "; at least one a second is needed"};
  if (interval > core_seconds / 10) {
    return {1, "samples", RuleStatus::failed, found + "; more than a tenth of the core phase"};
  }
  return {1, "samples", averaged ? if_true(*averaged) : RuleStatus::unknown,
          found + "; each must be the mean of samples taken every second: '# averaged = yes' in the log states it"};
}

Rule fraction_rule(int level, const PowerEvidence& evidence) {
  const double nodes = static_cast<double>(evidence.nodes);
  const double kilowatts = evidence.power.watts / 1000;
  const auto large = [&](double measured, double share, double least_kilowatts) {
    return measured >= std::max(share * nodes, 15.0) && kilowatts >= least_kilowatts;
  };
  static constexpr const char* needed[] = {"all, 40 kW, or the largest of 1/10, 15 nodes and 2 kW",
                                           "all, or the largest of 1/8, 15 nodes and 10 kW", "all"};
  Rule rule{level, "machine fraction", RuleStatus::unknown, ""};
  if (const std::optional<double>& measured = evidence.measured_nodes) {
    const bool holds = *measured >= nodes || (level == 1 && (kilowatts >= 40 || large(*measured, 0.1, 2))) ||
                       (level == 2 && large(*measured, 0.125, 10));
    rule.status = if_true(holds);
    rule.found = fmt::format("{:g} of {:g} node{}, {:.3g} kW", *measured, nodes, nodes == 1 ? "" : "s", kilowatts);
    if (*measured < nodes) rule.found += fmt::format(", extrapolated to {:.4g} kW", evidence.extrapolated_watts / 1000);
  } else {
    rule.found = "no scope is a host of the run; '# nodes = 4' in the log states how many it measures";
  }
  rule.found += fmt::format("; needed: {}", needed[level - 1]);
  return rule;
}

/// A fact that only the log's owner knows.
Rule stated_rule(int level, const char* name, const std::optional<bool>& fact, const std::string& needed,
                 const char* line) {
  if (!fact) return {level, name, RuleStatus::unknown, fmt::format("{}; '# {}' in the log states it", needed, line)};
  return {level, name, if_true(*fact), fmt::format("{}, stated: {}", needed, *fact ? "yes" : "no")};
}

std::optional<bool> measures(const PowerFacts& facts, Subsystems least) {
  return facts.subsystems ? std::optional(*facts.subsystems >= least) : std::nullopt;
}

Rule accuracy_rule(int level, const PowerFacts& facts, double percent) {
  if (!facts.accuracy_percent) {
    return {level, "meter accuracy", RuleStatus::unknown,
            fmt::format("{:g} % is needed; '# accuracy_percent = {:g}' in the log states it", percent, percent)};
  }
  return {level, "meter accuracy", if_true(*facts.accuracy_percent <= percent),
          fmt::format("{:g} % stated; {:g} % is needed", *facts.accuracy_percent, percent)};
}

Rule clock_rule(const MeasuredPower& power, const PowerFacts& facts) {
  if (!power.clock_offset) {
    return stated_rule(1, "clock offset", facts.synchronised,
                       "the power does not rise and fall with the run; clocks synchronised (NTP)",
                       "synchronised = yes");
  }
  if (power.shift == 0) {
    return {1, "clock offset", RuleStatus::ok,
            fmt::format("{:+.1f} s by the power's rise and fall: within the readings", *power.clock_offset)};
  }
  return {1, "clock offset", RuleStatus::failed,
          fmt::format("the log is {:.1f} s {}, by the power's rise and fall; aligned, but synchronise the clocks (NTP)",
                      std::abs(power.shift), power.shift > 0 ? "ahead" : "behind")};
}

std::vector<Rule> power_rules(const RunRecord& run, const PowerEvidence& evidence) {
  const PowerFacts& facts = evidence.facts;
  const MeasuredPower& power = evidence.power;
  std::vector<Rule> rules;
  rules.push_back(samples_rule(run.result.seconds, evidence));
  rules.push_back(clock_rule(power, facts));
  rules.push_back(fraction_rule(1, evidence));
  rules.push_back(stated_rule(1, "subsystems", measures(facts, Subsystems::interconnect),
                              "compute nodes measured, interconnect measured or estimated",
                              "subsystems = interconnect"));
  Rule location = stated_rule(1, "location", facts.upstream, "upstream of power conversion", "upstream = yes");
  if (facts.upstream == false) {
    location.status = RuleStatus::unknown;
    location.found += "; then add its loss, for level 1 by the manufacturer's data";
  }
  rules.push_back(location);
  rules.push_back(accuracy_rule(1, facts, 5));

  rules.push_back({2, "ten measurements", if_true(power.readings >= 10),
                   fmt::format("{} readings in the core phase; at least 10 are needed", power.readings)});
  rules.push_back(
      stated_rule(2, "full run", facts.full_run, "the log covers the job from launch to end", "full_run = yes"));
  rules.push_back({2, "idle power", facts.idle_watts ? RuleStatus::ok : RuleStatus::unknown,
                   facts.idle_watts ? fmt::format("{:g} W stated", *facts.idle_watts)
                                    : std::string("'# idle_watts = 120' in the log states it")});
  rules.push_back(fraction_rule(2, evidence));
  rules.push_back(stated_rule(2, "subsystems", measures(facts, Subsystems::all),
                              "all that take part measured or estimated", "subsystems = all"));
  rules.push_back(accuracy_rule(2, facts, 2));

  Rule integrated = stated_rule(3, "integrated energy", facts.integrated,
                                "readings of a counter of energy, at most 5 s apart", "integrated = yes");
  if (power.interval > 5) integrated.status = RuleStatus::failed;
  rules.push_back(integrated);
  rules.push_back(fraction_rule(3, evidence));
  rules.push_back(stated_rule(3, "subsystems", measures(facts, Subsystems::all_measured), "all that take part measured",
                              "subsystems = all-measured"));
  rules.push_back(accuracy_rule(3, facts, 1));
  return rules;
}

/// The names of the rules with the status; those of several levels once.
std::string names_of(const std::vector<Rule>& rules, RuleStatus status, int from, int to) {
  std::vector<std::string> names;
  for (const Rule& rule : rules) {
    const bool wanted = rule.status == status && rule.level >= from && rule.level <= to;
    if (wanted && std::find(names.begin(), names.end(), rule.name) == names.end()) names.push_back(rule.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string rule_lines(const std::vector<Rule>& rules, int level) {
  std::string text;
  for (const Rule& rule : rules) {
    if (rule.level != level) continue;
    text += fmt::format("  {:<8} {:<18} {} {}\n", name_of(rule.status), rule.name, rule.found, rule.source);
  }
  return text;
}

}  // namespace

PowerEvidence power_evidence(const RunRecord& run, const PowerLog& log) {
  PowerEvidence evidence{.facts = log.facts,
                         .power = power_during(log, run.result.start_time, run.result.seconds),
                         .nodes = 0,
                         .measured_nodes = {},
                         .extrapolated_watts = 0};
  const std::set<std::string> hosts = hosts_of(run);
  evidence.nodes = std::max<std::size_t>(1, hosts.size());
  std::set<std::string> measured;
  double watts_of_nodes = 0;
  for (const MeasuredPower::Scope& scope : evidence.power.scopes) {
    if (!hosts.contains(short_name(scope.name))) continue;
    measured.insert(short_name(scope.name));
    watts_of_nodes += scope.watts;
  }
  // without scopes of nodes, all that the log has is of the nodes that it states
  if (measured.empty() || log.facts.nodes) watts_of_nodes = evidence.power.watts;
  if (log.facts.nodes) {
    evidence.measured_nodes =
        static_cast<double>(std::min<Index>(*log.facts.nodes, static_cast<Index>(evidence.nodes)));
  } else if (!measured.empty()) {
    evidence.measured_nodes = static_cast<double>(measured.size());
  }
  const double factor = evidence.measured_nodes ? static_cast<double>(evidence.nodes) / *evidence.measured_nodes : 1;
  evidence.extrapolated_watts = evidence.power.watts + (factor - 1) * watts_of_nodes;
  return evidence;
}

std::vector<Rule> submission_rules(const RunRecord& run, const std::optional<PowerEvidence>& evidence) {
  std::vector<Rule> rules = top500_rules(run);
  rules.push_back({1, "core phase", if_true(run.result.seconds >= least_core_seconds),
                   fmt::format("{:.2f} s; at least {:g} s are needed", run.result.seconds, least_core_seconds)});
  rules.push_back({1, "power log", if_true(evidence.has_value()),
                   evidence ? fmt::format("{:.5g} W on average over the core phase, {} scope{}", evidence->power.watts,
                                          evidence->power.scopes.size(), evidence->power.scopes.size() == 1 ? "" : "s")
                            : std::string("none; give --power-log. Sensors in the nodes (RAPL, NVML) reach no level")});
  for (Rule& rule : power_rules(run, evidence.value_or(PowerEvidence{}))) {
    if (!evidence) {
      rule.status = RuleStatus::unknown;
      rule.found = "needs --power-log";
    }
    rules.push_back(std::move(rule));
  }
  for (Rule& rule : rules) {
    if (rule.level > 0) rule.source = "[4]";
  }
  return rules;
}

int level_reached(const std::vector<Rule>& rules) {
  int reached = 0;
  for (int level = 1; level <= highest_level; ++level) {
    bool any = false, all = true;
    for (const Rule& rule : rules) {
      if (rule.level != level) continue;
      any = true;
      all = all && rule.status == RuleStatus::ok;
    }
    if (!any || !all) break;
    reached = level;
  }
  return reached;
}

std::string verdict_on(const std::vector<Rule>& rules, bool green) {
  const int to = green ? 1 : 0;
  const std::string failed = names_of(rules, RuleStatus::failed, 0, to);
  if (!failed.empty()) return "cannot be submitted: " + failed;
  const std::string unknown = names_of(rules, RuleStatus::unknown, 0, to);
  return unknown.empty() ? "can be submitted" : "cannot be submitted before these are known: " + unknown;
}

std::string checklist_text(const std::vector<Rule>& rules) {
  std::string text = fmt::format("TOP500: {}\n{}\n", verdict_on(rules, false), rule_lines(rules, 0));
  text += fmt::format("Green500: {}\n", verdict_on(rules, true));
  for (int level = 1; level <= highest_level; ++level) {
    const std::string lines = rule_lines(rules, level);
    if (!lines.empty()) text += fmt::format("level {}\n{}", level, lines);
  }
  const int reached = level_reached(rules);
  text += fmt::format("Level reached: {}.", reached == 0 ? "none" : std::to_string(reached));
  if (reached < highest_level) {
    const int next = reached + 1;
    const std::string failed = names_of(rules, RuleStatus::failed, next, next);
    const std::string unknown = names_of(rules, RuleStatus::unknown, next, next);
    text += fmt::format(" Level {} lacks: {}{}{}{}.", next, failed, failed.empty() || unknown.empty() ? "" : "; ",
                        unknown, unknown.empty() ? "" : " (unknown)");
  }
  return text + "\n\nSources\n" + std::string(rule_sources);
}

}  // namespace glinpack::app
