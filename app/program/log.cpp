#include "app/program/log.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
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

// A message after what the log's level puts before it, without the control characters of the names in it.
class Line final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& time, spdlog::memory_buf_t& line) override {
    const std::string text =
        prefix_of(message, time) + without_controls(std::string(message.payload.data(), message.payload.size()), "\n");
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Line>(); }

 private:
  static std::string prefix_of(const spdlog::details::log_msg& message, const std::tm& time) {
    const bool is_alone = launched_processes() < 2;
    const std::string place = is_alone ? "" : host_name() + ", rank " + std::to_string(launcher_rank());
    if (spdlog::get_level() < spdlog::level::info) {
      const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch());
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

}  // namespace glinpack::app
