// `glinpack man-pages` and `glinpack completion`: what an installation has beside the program, made of its helps.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace glinpack::app {

struct ManPagesOptions {
  std::string output_dir;
  bool force = false;
};

struct CompletionOptions {
  std::string shell = "bash";
};

/// Both throw InputError.
ManPagesOptions parse_man_pages_options(const std::vector<std::string>& arguments);
CompletionOptions parse_completion_options(const std::vector<std::string>& arguments);
std::string man_pages_help();
std::string completion_help();

/// Writes glinpack.1 and a page for each subcommand into the folder, which it makes if missing. Throws InputError where
/// a page is there already and may not be replaced.
void run_man_pages_command(const ManPagesOptions& options);
void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
