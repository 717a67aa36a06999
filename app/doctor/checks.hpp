// From facts to findings: pure, so that tests bring facts of their own. A finding for every check, always in the same
// order, whose remedies are commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

enum class Verdict {
  unknown,  // nothing to judge: not there, not readable, or not measured
  ok,
  warn,  // it runs, but slower or with less than the machine has
  fail   // it does not run, or not as asked for
};
std::string_view name_of(Verdict verdict);  // "ok", "n/a", "warn", "fail"

struct Finding {
  std::string check;  // "affinity"
  Verdict verdict = Verdict::unknown;
  std::string evidence;
  std::vector<std::string> remedies;  // commands; a remark may follow after "  # "
};

/// Of at least one rank's facts.
std::vector<Finding> judge(const Facts& facts);

/// The worst verdict among findings.
Verdict worst_of(std::span<const Finding> findings);

}  // namespace glinpack::app::doctor
