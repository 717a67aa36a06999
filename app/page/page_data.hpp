// The content of a page, gathered from files. Independent of HTML.
#pragma once

#include <string>
#include <vector>

#include "app/compare/comparison.hpp"
#include "app/page/mode_results.hpp"
#include "app/page/network_results.hpp"
#include "app/page/plu_results.hpp"
#include "app/record/result_file.hpp"

namespace glinpack::app {

/// A value and the index of its file in PageData::files.
template <class Content>
struct FromFile {
  std::size_t file = 0;
  Content content;
};

/// The repetitions of a run in a file.
struct RunGroup {
  std::size_t file = 0;
  std::string name;                 // distinguishes the group from the others
  Parameters parameters;            // the source of the name
  std::vector<const PluRun*> runs;  // point into PageData::runs
  const PluRun* middle = nullptr;   // the repetition with the median time, without failed ones
};

/// The indices in PageData::files of two files with runs in common.
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
  std::vector<FromFile<std::vector<MeasuredGroup>>> measured;  // from ceilings and tune

  std::vector<FilesCompared> comparisons;  // the first file of a kind with each other one

  bool several_files() const { return files.size() > 1; }
};

/// Reads all files. `title`: empty for the default. Throws InputError.
PageData gather(const std::vector<std::string>& paths, const std::string& title);

/// Groups in the order of data.runs, which must outlive them. If the parameters do not distinguish two groups, the file
/// name does.
std::vector<RunGroup> groups_of(const PageData& data);
/// The parameters that all groups have in common; empty if there is one group.
std::string common_to(const std::vector<RunGroup>& groups);

}  // namespace glinpack::app
