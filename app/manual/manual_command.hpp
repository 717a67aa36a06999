// `glinpack man-pages` and `glinpack completion`: generate the man pages and shell completion from the help texts.
#pragma once

#include <iosfwd>
#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct ManPagesOptions {
  std::string output_dir;
  bool force = false;
};

struct CompletionOptions {
  std::string shell = "bash";
};

OptionTable man_pages_table(ManPagesOptions& options);
OptionTable completion_table(CompletionOptions& options);
/// Throws InputError.
ManPagesOptions parse_man_pages_options(const Texts& arguments);

/// Writes glinpack.1 and a page for each subcommand into the folder; creates the folder if it is missing. Throws
/// InputError if a page exists and may not be replaced.
void run_man_pages_command(const ManPagesOptions& options);
void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
