// `glinpack completion`: the script for bash that completes glinpack's command line: subcommands, options, and the
// values that an option's type lists.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "app/manual/pages.hpp"

namespace glinpack::app {

/// `pages`: all_pages().
std::string completion_script(std::span<const CommandPage> pages);

struct CompletionOptions {};

OptionTable completion_table(CompletionOptions& options);

void run_completion_command(const CompletionOptions& options, std::ostream& out);

}  // namespace glinpack::app
