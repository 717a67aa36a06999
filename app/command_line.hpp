// The command line but for plu's options: the program's own help, and `glinpack devices`.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

struct DevicesOptions {
  bool json = false;
};

/// "-h" or "--help" among the arguments.
bool asks_for_help(const std::vector<std::string>& arguments);

std::string program_help();
std::string devices_help();
/// Throws InputError.
DevicesOptions parse_devices_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
