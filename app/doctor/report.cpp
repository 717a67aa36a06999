#include "app/doctor/report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/record/network_record.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

bool is_wrong(const Finding& finding) { return finding.verdict == Verdict::warn || finding.verdict == Verdict::fail; }

std::string without_remark(const std::string& remedy) { return remedy.substr(0, remedy.find("  # ")); }

json links_json(const Facts& facts) {
  if (!facts.screening) return {};
  NetworkResults results;
  for (const RankFacts& rank : facts.ranks) results.hosts.push_back(rank.host.name);
  return screening_json(*facts.screening, results);
}

}  // namespace

std::string findings_text(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<6}{:<17}{}\n", name_of(finding.verdict), finding.check, finding.evidence);
    for (const std::string& remedy : finding.remedies) text += fmt::format("{:<23}-> {}\n", "", remedy);
  }
  const auto count = [&findings](Verdict verdict) {
    return std::count_if(findings.begin(), findings.end(),
                         [verdict](const Finding& finding) { return finding.verdict == verdict; });
  };
  return text + fmt::format("\n{} ok, {} warn, {} fail, {} n/a\n", count(Verdict::ok), count(Verdict::warn),
                            count(Verdict::fail), count(Verdict::unknown));
}

json findings_json(std::span<const Finding> findings, const Facts& facts) {
  json checks = json::array(), ranks = json::array();
  for (const Finding& finding : findings) {
    checks.push_back({{"check", finding.check},
                      {"verdict", name_of(finding.verdict)},
                      {"evidence", finding.evidence},
                      {"remedies", finding.remedies}});
  }
  for (const RankFacts& rank : facts.ranks) ranks.push_back(to_json(rank));
  return {{"format", 1},    {"verdict", name_of(worst_of(findings))}, {"quick", facts.quick}, {"checks", checks},
          {"ranks", ranks}, {"screening", links_json(facts)}};
}

std::vector<std::string> findings_notes(std::span<const Finding> findings) {
  std::vector<std::string> notes;
  for (const Finding& finding : findings) {
    if (!is_wrong(finding)) continue;
    std::string note = fmt::format("doctor, {}: {}", finding.check, finding.evidence);
    if (!finding.remedies.empty()) note += "; try: " + without_remark(finding.remedies.front());
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace glinpack::app::doctor
