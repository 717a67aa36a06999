// The rules of the TOP500 and the Green500 lists, checked against a run and its power log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/record/run_record.hpp"
#include "app/submission/power_log.hpp"

namespace glinpack::app {

enum class RuleStatus { ok, failed, unknown };
constexpr std::string_view name_of(RuleStatus status) {
  return status == RuleStatus::ok ? "ok" : status == RuleStatus::failed ? "failed" : "unknown";
}

struct Rule {
  int level = 0;     // of the Green500's methodology, 1 ... 3; 0: the TOP500's
  std::string name;  // a word or two
  RuleStatus status = RuleStatus::unknown;
  std::string found;     // what the run or the log has, and what is needed
  std::string source{};  // "[1]" of rule_sources
};

/// Where the rules stand.
inline constexpr std::string_view rule_sources =
    "[1] TOP500, Frequently Asked Questions, top500.org/resources/frequently-asked-questions: LU with partial "
    "pivoting,\n"
    "    2/3 n^3 + O(n^2) operations, 64-bit arithmetic throughout, no Strassen, no refinement of lower precision\n"
    "[2] HPL 2.3, netlib.org/benchmark/hpl: its random matrix, a scaled residual below 16 with eps 2^-53\n"
    "[3] TOP500, list of June 2019: every system since then has more than 1 PFLOPS\n"
    "[4] EEHPC WG, Power Measurement Methodology, table \"Summary of aspects and quality levels\", November 2024,\n"
    "    github.com/EEHPCWG/PowerMeasurementMethodology\n";

/// A power log with what it says of the run.
struct PowerEvidence {
  PowerFacts facts;
  MeasuredPower power;
  std::size_t nodes = 0;                 // hosts of the run
  std::optional<double> measured_nodes;  // at most `nodes`; empty: the log does not say
  double extrapolated_watts = 0;         // of all nodes of the run; power.watts if measured_nodes is empty
};
PowerEvidence power_evidence(const RunRecord& run, const PowerLog& log);

/// TOP500's first, then by level.
std::vector<Rule> submission_rules(const RunRecord& run, const std::optional<PowerEvidence>& evidence);

/// The highest level whose rules, and those of the levels below, are ok; 0: none.
int level_reached(const std::vector<Rule>& rules);

/// "cannot be submitted: precision, rate", or what is still unknown. `green`: Green500, which asks for the TOP500's
/// rules and those of level 1.
std::string verdict_on(const std::vector<Rule>& rules, bool green);

/// The rules with their status, the level reached, what the next one lacks, the sources.
std::string checklist_text(const std::vector<Rule>& rules);

}  // namespace glinpack::app
