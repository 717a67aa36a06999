// The subcommands. The program's help, man pages and completions list them, and main runs them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

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
  std::string (*help)();
  /// Every process that a launcher has started calls it. Returns the exit code. Throws InputError for errors that the
  /// user can correct, std::runtime_error for others.
  int (*run)(const Invocation& invocation);
};

std::span<const Command> commands();

/// Adds help, version and the subcommands to an empty app, which parses the program's first argument alone: a
/// subcommand parses the others.
void define_program(CLI::App& app);
std::string program_help();

}  // namespace glinpack::app
