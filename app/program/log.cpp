#include "app/program/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "app/input/values.hpp"
#include "app/options/fields.hpp"
#include "app/program/launcher.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

constexpr const char* level_variable = "GLINPACK_LOG";

// In the order of log_level_names().
constexpr std::array levels{spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                            spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};

// "HOST, rank 1"; empty if there is one process.
std::string place_of_process() {
  if (launched_processes() < 2) return "";
  return host_name() + ", rank " + std::to_string(launcher_rank());
}

// What precedes a warning or an error of levels info and up; nothing precedes other messages.
class WarningPrefix final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    if (message.level < spdlog::level::warn) return;
    const std::string place = place_of_process();
    const std::string prefix = std::string("glinpack: ") +
                               (message.level == spdlog::level::warn ? "warning: " : "error: ") + place +
                               (place.empty() ? "" : ": ");
    line.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<WarningPrefix>(); }
};

// What a message says, without the control characters of the names in it.
class CleanText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    const std::string text = without_controls({message.payload.data(), message.payload.size()}, "\n");
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<CleanText>(); }
};

std::string pattern_for(spdlog::level::level_enum level) {
  // on a terminal, a line replaces the progress of a run
  const std::string start = stderr_terminal() >= 0 ? "\r\x1b[K" : "";
  if (level >= spdlog::level::info) return start + "%*%&";
  const std::string place = place_of_process();
  return start + "%T.%e " + place + (place.empty() ? "" : ", ") + "%l: %&";
}

}  // namespace

const std::vector<std::string>& log_level_names() {
  static const std::vector<std::string> names{"trace", "debug", "info", "warn", "error", "off"};
  return names;
}

void start_log() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  set_log_level("info");
  const char* level = std::getenv(level_variable);
  if (level == nullptr || *level == '\0') return;
  try {
    set_log_level(level);
  } catch (const InputError& error) {
    throw InputError("the environment variable " + std::string(level_variable) + ": " + error.what());
  }
}

void set_log_level(const std::string& name) {
  const spdlog::level::level_enum level = levels[choose(name, log_level_names())];
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<WarningPrefix>('*').add_flag<CleanText>('&').set_pattern(pattern_for(level));
  spdlog::set_formatter(std::move(formatter));
  spdlog::set_level(level);
}

std::string log_level() {
  const auto level = std::find(levels.begin(), levels.end(), spdlog::get_level());
  return log_level_names()[static_cast<std::size_t>(level - levels.begin())];
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

}  // namespace glinpack::app
