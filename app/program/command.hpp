// The subcommands of a program, and the program that lists them: its help, man pages and completion are folds over it.
//
// For each subcommand, parse_..._options() reads the arguments after its name: command line over file over default.
// run_..._command() computes, prints a report and writes files; JSON gets a context, which ..._json() leaves out. Both
// throw InputError for errors that the user can correct, before any work, and std::runtime_error for others.
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

  std::vector<std::string> command_line() const { return {argv, argv + argc}; }
};

struct Command {
  const char* name;
  const char* summary;     // for the program's help, at most 64 characters
  const char* heading;     // the list in the program's help; commands of a list stand together
  OptionTable (*table)();  // with default values
  /// Every process that a launcher has started calls it. Returns the exit code. Throws InputError for errors that the
  /// user can correct, std::runtime_error for others.
  int (*run)(const Invocation& invocation);
};

struct Program {
  const char* name;
  const char* summary;      // of its man page
  const char* description;  // of its help
  const char* examples;     // a command per line
  const char* options_page;
  std::span<const Command> commands;
  /// The subcommands that another program has, for its users' first try here.
  std::span<const char* const> elsewhere = {};
  const char* other_program = "";
};

}  // namespace glinpack::app
