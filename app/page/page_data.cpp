#include "app/page/page_data.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "app/compare/comparison.hpp"
#include "app/input/input_error.hpp"

namespace glinpack::app {

namespace {

const PluRun* middle_of(const std::vector<const PluRun*>& runs) {
  std::vector<const PluRun*> good;
  for (const PluRun* run : runs) {
    if (run->verdict != Verdict::failed) good.push_back(run);
  }
  if (good.empty()) good = runs;
  std::stable_sort(good.begin(), good.end(), [](const PluRun* a, const PluRun* b) { return a->seconds < b->seconds; });
  return good[good.size() / 2];
}

void read_into(PageData& data, std::size_t place) {
  const ResultFile& file = data.files[place];
  switch (file.kind) {
    case ResultKind::plu:
      for (PluRun& run : read_plu_runs(file.root())) data.runs.push_back({place, std::move(run)});
      break;
    case ResultKind::mode:
      data.modes.push_back({place, read_mode_results(file.root())});
      break;
    case ResultKind::network:
      data.networks.push_back({place, read_network_results(file.root())});
      break;
    case ResultKind::ceilings:
      data.measured.push_back({place, read_ceilings(file.root())});
      break;
    case ResultKind::tune:
      data.measured.push_back({place, read_tunings(file.root())});
      break;
    case ResultKind::trace:
      break;  // already read
  }
}

void compare_files(PageData& data) {
  constexpr double confidence = 0.9;
  std::map<ResultKind, std::size_t> firsts;
  for (std::size_t place = 0; place < data.files.size(); ++place) {
    const ResultKind kind = data.files[place].kind;
    if (kind == ResultKind::trace) continue;
    const auto [first, is_new] = firsts.try_emplace(kind, place);
    if (is_new) continue;
    Comparison comparison = compare(data.files[first->second], data.files[place], {}, confidence);
    if (!comparison.pairs.empty()) data.comparisons.push_back({first->second, place, std::move(comparison)});
  }
}

std::vector<Parameters> parameters_of(const std::vector<RunGroup>& groups) {
  std::vector<Parameters> all;
  for (const RunGroup& group : groups) all.push_back(group.parameters);
  return all;
}

}  // namespace

PageData gather(const std::vector<std::string>& paths, const std::string& title) {
  PageData data;
  data.title = title.empty() ? "glinpack results" : title;
  std::set<std::filesystem::path> known;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    if (!error && !known.insert(whole).second) {
      throw InputError(path + ": is given twice; leave one of the two out");
    }
    data.files.push_back(read_result_file(path));  // throws if there is no such file
  }
  name_apart(data.files);
  for (std::size_t place = 0; place < data.files.size(); ++place) read_into(data, place);
  compare_files(data);
  for (ResultFile& file : data.files) file.document = nullptr;  // frees the memory of the parsed JSON
  return data;
}

std::vector<RunGroup> groups_of(const PageData& data) {
  std::vector<RunGroup> groups;
  std::map<std::pair<std::size_t, Parameters>, std::size_t> places;
  std::map<Parameters, std::set<std::size_t>> files_with;
  for (const auto& [file, run] : data.runs) {
    Parameters parameters = run.parameters;
    if (!run.hardware.empty()) parameters.emplace_back("hardware", run.hardware);
    const auto [place, is_new] = places.try_emplace({file, parameters}, groups.size());
    if (is_new) groups.push_back({.file = file, .name = {}, .parameters = parameters, .runs = {}, .middle = nullptr});
    groups[place->second].runs.push_back(&run);
    files_with[parameters].insert(file);
  }
  const bool same_in_files =
      std::any_of(files_with.begin(), files_with.end(), [](const auto& e) { return e.second.size() > 1; });
  for (RunGroup& group : groups) {
    if (same_in_files) group.parameters.insert(group.parameters.begin(), {"file", data.files[group.file].name});
    group.middle = middle_of(group.runs);
  }
  const std::set<std::string> names =
      groups.size() > 1 ? differing(parameters_of(groups)) : std::set<std::string>{"n", "nb", "grid"};
  for (RunGroup& group : groups) group.name = listed(group.parameters, names);
  return groups;
}

std::string common_to(const std::vector<RunGroup>& groups) {
  if (groups.size() < 2) return "";
  return listed(groups.front().parameters, differing(parameters_of(groups)), false);
}

}  // namespace glinpack::app
