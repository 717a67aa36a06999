#include "app/program/log.hpp"

#include <fcntl.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/input/values.hpp"
#include "app/options/fields.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

constexpr const char* level_variable = "GLINPACK_LOG";

// A message after what the log's level puts before it, without the control characters of the names in it.
class Line final : public spdlog::custom_flag_formatter {
 public:
  // spdlog knows the time only for patterns with flags of its own
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    const std::string text =
        prefix_of(message) + without_controls(std::string(message.payload.data(), message.payload.size()), "\n");
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Line>(); }

 private:
  static std::string prefix_of(const spdlog::details::log_msg& message) {
    const bool is_alone = launched_processes() < 2;
    const std::string place = is_alone ? "" : host_name() + ", rank " + std::to_string(launcher_rank());
    if (spdlog::get_level() < spdlog::level::info) {
      const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch());
      const std::tm time = fmt::localtime(spdlog::log_clock::to_time_t(message.time));
      return fmt::format("{:%T}.{:03} {}{}{}: ", time, since_epoch.count() % 1000, place, is_alone ? "" : ", ",
                         spdlog::level::to_string_view(message.level));
    }
    if (message.level < spdlog::level::warn) return "";
    return fmt::format("glinpack: {}: {}{}", message.level == spdlog::level::warn ? "warning" : "error", place,
                       is_alone ? "" : ": ");
  }
};

}  // namespace

void start_log() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  // on a terminal, a line replaces the progress of a run
  formatter->add_flag<Line>('*').set_pattern(stderr_terminal() >= 0 ? "\r\x1b[K%*" : "%*");
  auto logger = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
  set_log_level("info");
  const char* level = std::getenv(level_variable);
  if (level == nullptr || *level == '\0') return;
  try {
    set_log_level(level);
  } catch (const InputError& error) {
    throw InputError("the environment variable " + std::string(level_variable) + ": " + error.what());
  }
}

bool make_or_warn(const std::string& part, const std::function<void()>& make) {
  try {
    make();
    return true;
  } catch (const std::exception& error) {
    spdlog::warn("{} is left out: {}", part, error.what());
    return false;
  }
}

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
  return std::ranges::any_of(launchers, [&](std::string_view known) {
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
  if (std::ranges::none_of(launcher->ancestors, holds_mine)) return -1;
  const int theirs = open((folder_of(launcher->id) + "/fd/2").c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (theirs < 0 || isatty(theirs) == 1) return theirs;
  close(theirs);
  return -1;
}

}  // namespace

std::optional<LauncherProcess> find_launcher() {
  constexpr int max_generations = 16;
  LauncherProcess launcher{.id = getppid(), .command_line = {}, .ancestors = {}};
  for (int generation = 0; launcher.id > 0 && generation < max_generations; ++generation) {
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
