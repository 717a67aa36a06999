// The launcher that started this process, if it runs on this machine, and the terminal at which stderr ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace glinpack::app {

struct LauncherProcess {
  long id = 0;
  std::vector<std::string> command_line;
  std::vector<long> ancestors;  // of this process, from its parent to the launcher: its proxies and shells
};
/// The nearest ancestor process that is an MPI launcher. Empty if there is none, as on nodes that the launcher reaches
/// through a daemon.
std::optional<LauncherProcess> find_launcher();

/// A file descriptor of the terminal at which stderr ends: stderr itself, or stderr of a launcher on this machine that
/// forwards this process's. -1 if there is none.
int stderr_terminal();
/// Its width, in characters.
int columns_of(int terminal);

}  // namespace glinpack::app
