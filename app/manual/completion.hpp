// Scripts that complete glinpack's command line in a shell: subcommands, options, and values where an option's type
// spells them out, from what --help says.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/manual/man_page.hpp"

namespace glinpack::app {

/// "bash", "zsh", "fish".
const std::vector<std::string>& shells();

/// The script for one of shells(); `manuals`: all_manuals().
std::string completion_script(const std::string& shell, std::span<const Manual> manuals);

}  // namespace glinpack::app
