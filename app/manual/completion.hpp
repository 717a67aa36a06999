// Shell scripts that complete glinpack's command line, made from --help: subcommands, options, and values that an
// option's type lists.
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
