// The standalone modes: solvers that run alone, in one process, but for those that say otherwise. This list is what
// main dispatches by and what the program's help shows.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace glinpack {
class MpiSession;
}

namespace glinpack::app {

struct ModeInvocation {
  std::vector<std::string> command_line;  // the program's
  std::vector<std::string> arguments;     // what follows the mode's name
  std::vector<std::string> notes;         // for the report's head
  const MpiSession* session = nullptr;    // of a mode over the ranks
};

struct Mode {
  const char* name;
  const char* summary;  // for the program's help: lines of at most 90 characters
  std::string (*help)();
  /// Returns the exit code: 0, or 1 where a check failed. Throws InputError before any work for what the user can mend,
  /// std::runtime_error for the rest.
  int (*run)(const ModeInvocation& invocation);
  /// Every process that a launcher started runs it, under MPI; else the first one does, alone. Then what it throws and
  /// returns is the same on every rank.
  bool over_ranks = false;
};

std::span<const Mode> standalone_modes();

}  // namespace glinpack::app
