// The subcommands. The program's help, man pages and completion list them, and main runs them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct Invocation {
  int argc;
  char** argv;                         // the program's
  std::vector<std::string> arguments;  // after the subcommand's name
};

struct Command {
  enum class Group { benchmark, tools, solvers };
  const char* name;
  const char* summary;  // for the program's help, at most 64 characters
  Group group;
  OptionTable (*table)();  // with default values
  /// Every process that a launcher has started calls it. Returns the exit code. Throws InputError for errors that the
  /// user can correct, std::runtime_error for others.
  int (*run)(const Invocation& invocation);
};

std::span<const Command> commands();

/// The program's own help: its options, subcommands, environment variables and files.
OptionTable program_table();

}  // namespace glinpack::app
