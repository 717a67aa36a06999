#include "app/record/progress.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

constexpr double seconds_between_redraws = 0.1;
constexpr double seconds_between_lines = 5.0;
constexpr const char* erase_line = "\r\x1b[K";

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string hours_minutes_seconds(double seconds) {
  constexpr double most = 1000 * 3600.0;
  const auto whole = static_cast<long>(std::lround(std::clamp(seconds, 0.0, most)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(ProgressMode mode, std::ostream& terminal, bool is_terminal)
    : Progress(mode, terminal, is_terminal, steady_seconds) {}

Progress::Progress(ProgressMode mode, std::ostream& terminal, bool is_terminal, Clock clock)
    : mode_(mode), terminal_(terminal), is_terminal_(is_terminal), clock_(std::move(clock)) {}

void Progress::begin(std::string label, double flops) {
  label_ = free_text(label);
  flops_ = flops;
  begun_ = clock_();
  // on a terminal, the first update is drawn immediately
  shown_ = is_terminal_ ? begun_ - seconds_between_redraws : begun_;
  line_shown_ = false;
}

void Progress::update(double fraction) {
  if (mode_ == ProgressMode::never) return;
  const double now = clock_();
  if (now - shown_ < (is_terminal_ ? seconds_between_redraws : seconds_between_lines)) return;
  shown_ = now;
  line_shown_ = true;
  const std::string text = line(std::clamp(fraction, 0.0, 1.0), now - begun_);
  if (is_terminal_) {
    terminal_ << erase_line << text << std::flush;
  } else {
    spdlog::info(text);
  }
}

void Progress::end() {
  if (mode_ == ProgressMode::never) return;
  if (is_terminal_) {
    if (line_shown_) terminal_ << erase_line << std::flush;
  } else if (mode_ == ProgressMode::always && !line_shown_) {
    spdlog::info(line(1.0, clock_() - begun_));
  }
  line_shown_ = false;
}

std::string Progress::line(double fraction, double elapsed) const {
  std::string text = fmt::format("{}: {:.1f} % done", label_, 100 * fraction);
  if (elapsed > 0 && fraction > 0) {
    if (flops_ > 0) text += fmt::format(", {:.1f} GFLOPS so far", flops_ * fraction / elapsed * 1e-9);
    text += fmt::format(", {} left", hours_minutes_seconds(elapsed * (1 - fraction) / fraction));
  }
  return text;
}

}  // namespace glinpack::app
