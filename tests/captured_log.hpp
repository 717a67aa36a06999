// What spdlog's default logger gets during a test.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>

namespace glinpack {

/// Replaces the default logger during its lifetime. Lines at level info and up, by default as "warning: MESSAGE".
class CapturedLog {
 public:
  explicit CapturedLog(const char* pattern = "%l: %v") {
    auto logger = std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_));
    logger->set_pattern(pattern);
    spdlog::set_default_logger(std::move(logger));
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog() { spdlog::set_default_logger(before_); }

  /// The lines of all messages so far; no other thread may log at the same time.
  std::string lines() const { return lines_.str(); }

 private:
  std::ostringstream lines_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

}  // namespace glinpack
