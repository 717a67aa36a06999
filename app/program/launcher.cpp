#include "app/program/launcher.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace glinpack::app {

namespace {

namespace fs = std::filesystem;

std::string folder_of(long process) { return "/proc/" + std::to_string(process); }

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> command_line_of(long process) {
  std::vector<std::string> arguments;
  std::istringstream words(contents_of(folder_of(process) + "/cmdline"));
  for (std::string word; std::getline(words, word, '\0');) arguments.push_back(word);
  return arguments;
}

bool is_launcher(const std::vector<std::string>& command_line) {
  static constexpr std::array<std::string_view, 6> launchers{"mpirun", "mpiexec", "orterun", "prterun", "prun", "srun"};
  if (command_line.empty()) return false;
  const std::string name = fs::path(command_line.front()).filename();
  return std::any_of(launchers.begin(), launchers.end(), [&](std::string_view known) {
    // mpirun, mpirun.mpich, mpiexec_mpt
    return name.starts_with(known) &&
           (name.size() == known.size() || std::string_view(".-_").find(name[known.size()]) != std::string_view::npos);
  });
}

// 0: unknown
long parent_of(long process) {
  const std::string status = contents_of(folder_of(process) + "/stat");
  // the name, in brackets, may itself have blanks and brackets; state and parent follow it
  const std::size_t name_end = status.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(status.substr(name_end + 1));
  std::string state;
  long parent = 0;
  rest >> state >> parent;
  return parent;
}

// True if the process has the file open, such as one end of the pipe "pipe:[4711]".
bool holds(long process, const fs::path& file) {
  std::error_code error;
  for (fs::directory_iterator open(folder_of(process) + "/fd", error), end; !error && open != end;
       open.increment(error)) {
    std::error_code unreadable;
    if (fs::read_symlink(open->path(), unreadable) == file) return true;
  }
  return false;
}

int find_stderr_terminal() {
  if (isatty(STDERR_FILENO) == 1) return STDERR_FILENO;
  const std::optional<LauncherProcess> launcher = find_launcher();
  if (!launcher) return -1;
  std::error_code error;
  const fs::path mine = fs::read_symlink("/proc/self/fd/2", error);
  if (!mine.native().starts_with("pipe:")) return -1;
  // a pipe to another program, such as tee, is not the launcher's
  const auto holds_mine = [&mine](long process) { return holds(process, mine); };
  if (std::none_of(launcher->ancestors.begin(), launcher->ancestors.end(), holds_mine)) return -1;
  const int theirs = open((folder_of(launcher->id) + "/fd/2").c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (theirs < 0 || isatty(theirs) == 1) return theirs;
  close(theirs);
  return -1;
}

}  // namespace

std::optional<LauncherProcess> find_launcher() {
  constexpr int most_generations = 16;
  LauncherProcess launcher{.id = getppid(), .command_line = {}, .ancestors = {}};
  for (int generation = 0; launcher.id > 0 && generation < most_generations; ++generation) {
    launcher.command_line = command_line_of(launcher.id);
    launcher.ancestors.push_back(launcher.id);
    if (is_launcher(launcher.command_line)) return launcher;
    launcher.id = parent_of(launcher.id);
  }
  return std::nullopt;
}

int stderr_terminal() {
  static const int terminal = find_stderr_terminal();
  return terminal;
}

int columns_of(int terminal) {
  constexpr int usual = 80;
  winsize size{};
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

}  // namespace glinpack::app
