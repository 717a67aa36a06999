// `glinpack man-pages` and `glinpack completion`.
#pragma once

#include <iosfwd>
#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct ManPagesOptions {
  std::string output_dir;
  bool force = false;
  bool markdown = false;
};

struct CompletionOptions {
  std::string shell = "bash";
};

OptionTable man_pages_table(ManPagesOptions& options);
OptionTable completion_table(CompletionOptions& options);
/// Throws InputError.
ManPagesOptions parse_man_pages_options(const Texts& arguments);

/// Writes glinpack.1 and a page for each subcommand into the folder; creates the folder if it is missing. Throws
/// InputError if a page exists and may not be replaced. With `markdown`, writes docs/options.md to `out` instead.
void run_man_pages_command(const ManPagesOptions& options, std::ostream& out);
void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
