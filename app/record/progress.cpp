#include "app/record/progress.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <thread>
#include <utility>

#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

constexpr double seconds_between_redraws = 0.1;
constexpr double seconds_between_lines = 5.0;
constexpr const char* erase_line = "\r\x1b[K";

std::string hours_minutes_seconds(double seconds) {
  constexpr double max = 1000 * 3600.0;
  const auto whole = static_cast<long>(std::lround(std::clamp(seconds, 0.0, max)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(ProgressMode mode, std::ostream& terminal, Columns columns, bool forwarded, Clock clock)
    : mode_(mode), terminal_(terminal), columns_(std::move(columns)), forwarded_(forwarded), clock_(std::move(clock)) {}

void Progress::prepare(const std::string& label, const std::string& what) {
  if (mode_ == ProgressMode::never || !columns_) return;
  const double now = clock_();
  if (now - shown_ < seconds_between_redraws) return;
  if (!line_shown_) wait_for_launcher();
  draw(what + ": " + free_text(label), now);
}

void Progress::begin(std::string label, double flops, Index order) {
  label_ = free_text(label);
  flops_ = flops;
  order_ = order;
  begun_ = now_since_ = clock_();
  fraction_then_ = rate_now_ = 0;
  if (columns_) {
    update(0);
  } else {
    shown_ = begun_;
    line_shown_ = false;
  }
}

void Progress::update(double fraction) {
  if (mode_ == ProgressMode::never) return;
  const double now = clock_();
  const bool is_last = columns_ && line_shown_ && fraction >= 1;
  if (!is_last && now - shown_ < (columns_ ? seconds_between_redraws : seconds_between_lines)) return;
  fraction = std::clamp(fraction, 0.0, 1.0);
  if (columns_) {
    draw(terminal_line(fraction, now), now);
    return;
  }
  shown_ = now;
  line_shown_ = true;
  spdlog::info(line(fraction, now - begun_));
}

void Progress::end() {
  if (mode_ == ProgressMode::never) return;
  if (columns_) {
    if (line_shown_) {
      terminal_ << erase_line << std::flush;
      wait_for_launcher();
    }
  } else if (mode_ == ProgressMode::always && !line_shown_) {
    spdlog::info(line(1.0, clock_() - begun_));
  }
  line_shown_ = false;
}

// Never in a run, whose time it would lengthen.
void Progress::wait_for_launcher() const {
  if (forwarded_) std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

// A line that is wider than the terminal could not be erased.
void Progress::draw(const std::string& text, double now) {
  const int columns = std::max(columns_(), 2);
  terminal_ << erase_line << text.substr(0, static_cast<std::size_t>(columns - 1)) << std::flush;
  shown_ = now;
  line_shown_ = true;
}

std::string Progress::line(double fraction, double elapsed) const {
  std::string text = fmt::format("{}: {:.1f} % done", label_, 100 * fraction);
  if (elapsed > 0 && fraction > 0) {
    if (flops_ > 0) text += fmt::format(", {:.1f} GFLOPS so far", flops_ * fraction / elapsed * 1e-9);
    text += fmt::format(", {} left", hours_minutes_seconds(elapsed * (1 - fraction) / fraction));
  }
  return text;
}

std::string Progress::terminal_line(double fraction, double now) {
  constexpr double min_seconds = 1;  // that a rate "now" is measured over
  const double elapsed = now - begun_;
  if (order_ > 0 && fraction >= 1) return "solving and checking: " + label_;
  std::string text = fmt::format("{:.1f} %", 100 * fraction);
  // a factorisation with L of N rows and columns left has 1 - (L / N)^3 of its operations behind it
  if (order_ > 0) text += fmt::format(", N left {:.0f}", static_cast<double>(order_) * std::cbrt(1 - fraction));
  if (elapsed > 0 && fraction > 0) {
    const double mean = flops_ * fraction / elapsed * 1e-9;
    if (rate_now_ <= 0) rate_now_ = mean;
    if (now - now_since_ >= min_seconds) {
      // less is done after a return to a checkpoint
      rate_now_ = flops_ * std::max(0.0, fraction - fraction_then_) / (now - now_since_) * 1e-9;
      now_since_ = now;
      fraction_then_ = fraction;
    }
    if (flops_ > 0) text += fmt::format(", {:.1f} GFLOPS now, {:.1f} mean", rate_now_, mean);
    text += fmt::format(", {} left", hours_minutes_seconds(elapsed * (1 - fraction) / fraction));
  }
  return text + ": " + label_;
}

}  // namespace glinpack::app
