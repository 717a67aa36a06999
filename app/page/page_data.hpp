// What a page shows, gathered from files; nothing here knows HTML.
#pragma once

#include <string>
#include <vector>

#include "app/compare/comparison.hpp"
#include "app/results/mode_results.hpp"
#include "app/results/network_results.hpp"
#include "app/results/plu_results.hpp"
#include "app/results/result_file.hpp"

namespace glinpack::app {

/// Something, and the file that it is from: its place in PageData::files.
template <class Content>
struct FromFile {
  std::size_t file = 0;
  Content content;
};

/// The repetitions of a run in a file.
struct RunGroup {
  std::size_t file = 0;
  std::string name;                 // what tells it from the other groups
  Parameters parameters;            // of which the name is made
  std::vector<const PluRun*> runs;  // in PageData::runs
  const PluRun* middle = nullptr;   // the repetition with the median time, of those that did not fail
};

/// Two files that have runs in common: their places in PageData::files.
struct FilesCompared {
  std::size_t a = 0, b = 0;
  Comparison comparison;
};

struct PageData {
  std::string title;
  std::vector<ResultFile> files;
  std::vector<FromFile<PluRun>> runs;
  std::vector<FromFile<ModeResults>> modes;
  std::vector<FromFile<NetworkOutcome>> networks;
  std::vector<FromFile<std::vector<MeasuredGroup>>> measured;  // of ceilings and tune

  std::vector<FilesCompared> comparisons;  // the first file of a kind with each of the others

  bool several_files() const { return files.size() > 1; }
};

/// Reads every file. `title`: empty for the page's own. Throws InputError.
PageData gather(const std::vector<std::string>& paths, const std::string& title);

/// In the order of data.runs, which must outlive them. The file counts among what tells groups apart where the
/// parameters do not.
std::vector<RunGroup> groups_of(const PageData& data);
/// What all groups have in common; empty where there is one group.
std::string common_to(const std::vector<RunGroup>& groups);

}  // namespace glinpack::app
