// The subcommands but for the standalone modes, which modes/modes.hpp lists: what main dispatches by and what the
// program's help shows.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace glinpack::app {

struct Invocation {
  int argc;
  char** argv;                         // the program's
  std::vector<std::string> arguments;  // what follows the subcommand's name
};

struct Subcommand {
  const char* name;
  const char* summary;  // for the program's help: at most 100 characters
  std::string (*help)();
  /// Every process that a launcher started calls it. Returns the exit code. Throws InputError for what the user can
  /// mend, std::runtime_error for the rest.
  int (*run)(const Invocation& invocation);
};

std::span<const Subcommand> subcommands();

}  // namespace glinpack::app
