// `glinpack completion`: shell scripts that complete glinpack's command line: subcommands, options, and the values that
// an option's type lists.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "app/manual/pages.hpp"

namespace glinpack::app {

/// "bash", "zsh", "fish".
const Texts& shells();

/// The script for one of shells(); `pages`: all_pages().
std::string completion_script(const std::string& shell, std::span<const CommandPage> pages);

struct CompletionOptions {
  std::string shell = "bash";
};

OptionTable completion_table(CompletionOptions& options);

void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
