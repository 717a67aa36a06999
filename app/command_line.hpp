// The program's own help.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// "-h" or "--help" among the arguments.
bool asks_for_help(const std::vector<std::string>& arguments);

std::string program_help();

}  // namespace glinpack::app
