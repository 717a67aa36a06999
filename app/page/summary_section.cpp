#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_failures = 50;

Html tile(const std::string& value, const std::string& name) {
  return element("div", {{"class", "tile"}}, text_element("b", value) + text_element("span", name)) + "\n"_html;
}

/// Counts over results of all kinds.
struct Counts {
  std::size_t passed = 0, failed = 0, unchecked = 0;
};

Counts count(const PageData& data) {
  Counts counts;
  for (const auto& [file, run] : data.runs) {
    ++(run.verdict == Verdict::passed   ? counts.passed
       : run.verdict == Verdict::failed ? counts.failed
                                        : counts.unchecked);
  }
  for (const auto& [file, mode] : data.modes) {
    for (const ModeRow& row : mode.rows) ++(row.passed ? counts.passed : counts.failed);
  }
  return counts;
}

/// The file, parameters and reason of every failure.
std::vector<std::string> failures_of(const PageData& data, std::span<const RunGroup> groups) {
  std::vector<std::string> failures;
  for (const RunGroup& group : groups) {
    for (const PluRun* run : group.runs) {
      if (run->verdict != Verdict::failed) continue;
      failures.push_back(data.files[group.file].name + ": " + group.name + ": " + run->failure);
    }
  }
  for (const auto& [file, mode] : data.modes) {
    for (const ModeRow& row : mode.rows) {
      if (row.passed) continue;
      const std::string why = row.failure.empty() ? "its error, " + figures(row.error) + ", is too large" : row.failure;
      failures.push_back(data.files[file].name + ": " + mode.mode + ", " + row.variant + ", " + row.size + ": " + why);
    }
  }
  return failures;
}

Html failures_html(const PageData& data, std::span<const RunGroup> groups) {
  const std::vector<std::string> failures = failures_of(data, groups);
  if (failures.empty()) return {};
  Html items;
  for (std::size_t i = 0; i < std::min(failures.size(), most_failures); ++i) items += text_element("li", failures[i]);
  if (failures.size() > most_failures) {
    items += text_element("li", fmt::format("and {} more", failures.size() - most_failures));
  }
  return element("div", {{"class", "alarm"}}, text_element("b", "FAILED") + element("ul", items)) + "\n"_html;
}

Html incomplete_html(const PageData& data) {
  Html items;
  for (const ResultFile& file : data.files) {
    if (!file.context.incomplete.empty()) items += text_element("li", file.name + ": " + file.context.incomplete);
  }
  if (items.empty()) return {};
  return element("div", {{"class", "alarm"}}, text_element("b", "INCOMPLETE") + element("ul", items)) + "\n"_html;
}

const PluRun* best_of(const PageData& data) {
  const PluRun* best = nullptr;
  for (const auto& [file, run] : data.runs) {
    if (run.verdict == Verdict::failed || !run.gflops) continue;
    if (best == nullptr || *run.gflops > *best->gflops) best = &run;
  }
  return best;
}

std::string dates_of(const PageData& data) {
  double first = 0, last = 0;
  for (const auto& [file, run] : data.runs) {
    first = first == 0 ? run.start_time : std::min(first, run.start_time);
    last = std::max(last, run.start_time);
  }
  if (data.runs.empty()) return "";
  const std::string from = date_text(first), to = date_text(last);
  return from == to ? from : from + " to " + to;
}

}  // namespace

Html verdict_html(Verdict verdict) {
  const char* kind = verdict == Verdict::passed   ? "verdict passed"
                     : verdict == Verdict::failed ? "verdict failed"
                                                  : "verdict";
  return element("span", {{"class", kind}}, escaped(name_of(verdict)));
}

Html summary_section(const PageData& data, std::span<const RunGroup> groups) {
  const Counts counts = count(data);
  std::set<std::string> hosts;
  for (const ResultFile& file : data.files) hosts.insert(file.context.hosts.begin(), file.context.hosts.end());
  Html tiles;
  if (counts.passed + counts.failed + counts.unchecked > 0) {
    tiles += tile(std::to_string(counts.passed), "PASSED");
    tiles += tile(std::to_string(counts.failed), "FAILED");
    if (counts.unchecked > 0) tiles += tile(std::to_string(counts.unchecked), "not checked");
  }
  if (const PluRun* best = best_of(data)) {
    tiles +=
        tile(figures(*best->gflops) + " GFLOPS", fmt::format("best: N {}, NB {}, {} x {}, {}, {}", best->n, best->nb,
                                                             best->p, best->q, best->precision, best->backend));
  }
  tiles += tile(std::to_string(data.files.size()), data.files.size() == 1 ? "file" : "files");
  if (!hosts.empty()) tiles += tile(std::to_string(hosts.size()), hosts.size() == 1 ? "host" : "hosts");
  const std::string dates = dates_of(data);
  return element("div", {{"class", "tiles"}}, "\n"_html + tiles) + "\n"_html +
         (dates.empty() ? Html() : element("p", {{"class", "faint"}}, escaped("Runs of " + dates)) + "\n"_html) +
         incomplete_html(data) + failures_html(data, groups);
}

}  // namespace glinpack::app
