// Judges facts by one table. Pure, so that tests can supply facts. There is one finding per check, always in the same
// order. Remedies are commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

enum class Verdict {
  unknown,  // not present, not readable or not measured
  ok,
  warn,  // works, but slower or with less than the machine has
  fail   // does not work, or not as requested
};
constexpr std::string_view name_of(Verdict verdict) { return text_by_value(verdict, "n/a", "ok", "warn", "fail"); }

struct Finding {
  std::string check;  // "affinity"
  Verdict verdict = Verdict::unknown;
  std::string evidence;
  std::vector<std::string> remedies;  // commands; a remark may follow after "  # "
};

/// `facts` must have at least one rank.
std::vector<Finding> judge(const Facts& facts);

/// The worst verdict among findings.
Verdict worst_of(std::span<const Finding> findings);

}  // namespace glinpack::app::doctor
