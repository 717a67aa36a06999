// The program's log: spdlog's default logger, on stderr. Code logs with spdlog::debug(), spdlog::warn() and so on. The
// launcher that started this process, and the terminal at which stderr ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace glinpack::app {

/// Sends the log to stderr, at the level that GLINPACK_LOG names, else at info. Call it first. Throws InputError for an
/// unknown level.
///
/// Levels trace and debug show time, host, rank (if there are several) and level. The other levels show messages as
/// they are, and warnings as "glinpack: warning: HOST, rank 1: MESSAGE".
void start_log();

/// Makes a part of a report. If `make` throws, logs a warning and returns false, so that no result is lost.
bool make_or_warn(const std::string& part, const std::function<void()>& make);

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
