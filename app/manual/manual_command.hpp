// `glinpack man-pages` and `glinpack completion`: what an installation has beside the program, made of its helps.
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

/// Writes glinpack.1 and a page for each subcommand into the folder, which it makes if missing. Throws InputError where
/// a page is there already and may not be replaced.
void run_man_pages_command(const ManPagesOptions& options);
void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
