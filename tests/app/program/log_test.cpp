#include "app/program/log.hpp"

#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <array>
#include <memory>

#include "app/options/plu_options.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::MatchesRegex;

// The log of a program that starts: each test has its own variables and default logger.
class Log : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    for (const char* name : variables) unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : variables) unsetenv(name);
    spdlog::set_default_logger(before_);
    FolderTest::TearDown();
  }

  // The level after a start with these options.
  static std::string level_of(const char* variable, const Texts& arguments) {
    if (variable != nullptr) setenv("GLINPACK_LOG", variable, 1);
    start_log();
    parse_plu_options(arguments);
    return log_level();
  }

  // On stderr, of one message a level.
  static std::string messages_at(const std::string& level) {
    ::testing::internal::CaptureStderr();
    start_log();
    set_log_level(level);
    spdlog::trace("T");
    spdlog::debug("D");
    spdlog::info("I");
    spdlog::warn("W");
    spdlog::error("E");
    return ::testing::internal::GetCapturedStderr();
  }

 private:
  static constexpr std::array variables{"GLINPACK_LOG", "PMI_RANK", "PMI_SIZE"};
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(Log, messages_have_no_control_characters_of_names) {
  ::testing::internal::CaptureStderr();
  start_log();
  spdlog::warn("\x1b]0;title\x07 \u009b31m \x9b \u00e9\nnext");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("  ]0;title   31m   \u00e9\nnext\n"));
}

TEST_F(Log, has_the_level_of_the_command_line_then_the_file_then_the_environment_then_info) {
  const std::string file = write("c.toml", "log-level = \"warn\"\n");
  EXPECT_EQ(level_of(nullptr, {}), "info");
  EXPECT_EQ(level_of("trace", {}), "trace");
  EXPECT_EQ(level_of("trace", {"--config", file}), "warn");
  EXPECT_EQ(level_of("trace", {"--config", file, "--log-level", "off"}), "off");
  EXPECT_EQ(level_of("off", {"--log-level", "debug"}), "debug");
  EXPECT_EQ(level_of("", {}), "info");
}

TEST_F(Log, has_six_levels) {
  for (const std::string& name : log_level_names()) EXPECT_EQ(level_of(nullptr, {"--log-level", name}), name);
}

TEST_F(Log, an_unknown_level_is_an_error_that_names_the_place_and_the_levels) {
  expect_input_error(
      [] {
        level_of(nullptr, {"--log-level", "debugg"});
      },
      {"--log-level", "'debugg'", "trace, debug, info, warn, error or off", "did you mean debug"});
  expect_input_error([] { level_of("loud", {}); }, {"the environment variable GLINPACK_LOG", "'loud'", "trace"});
}

TEST_F(Log, is_among_the_options_of_results) {
  level_of("debug", {});
  EXPECT_EQ(to_json(PluOptions(), plu_table)["log-level"], "debug");
}

TEST_F(Log, shows_plain_messages_and_marked_warnings_at_info) {
  EXPECT_EQ(messages_at("info"), "I\nglinpack: warning: W\nglinpack: error: E\n");
  EXPECT_EQ(messages_at("warn"), "glinpack: warning: W\nglinpack: error: E\n");
  EXPECT_EQ(messages_at("error"), "glinpack: error: E\n");
  EXPECT_EQ(messages_at("off"), "");
}

TEST_F(Log, shows_time_and_level_at_debug_and_trace) {
  const std::string time = "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\.[0-9][0-9][0-9]";
  const std::string from_debug =
      time + " debug: D\n" + time + " info: I\n" + time + " warning: W\n" + time + " error: E\n";
  EXPECT_THAT(messages_at("debug"), MatchesRegex(from_debug));
  EXPECT_THAT(messages_at("trace"), MatchesRegex(time + " trace: T\n" + from_debug));
}

TEST_F(Log, names_host_and_rank_if_there_are_several_ranks) {
  setenv("PMI_RANK", "3", 1);
  setenv("PMI_SIZE", "4", 1);
  EXPECT_THAT(messages_at("info"), MatchesRegex("I\nglinpack: warning: [^ ]+, rank 3: W\nglinpack: error: .*\n"));
  EXPECT_THAT(messages_at("debug"), HasSubstr(", rank 3, debug: D\n"));
}

}  // namespace
}  // namespace glinpack::app
