#include "app/page/axis.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace glinpack::app {

namespace {

/// The smallest of 1, 2, 5, 10 times a power of ten that is not less than `step`.
double nice_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// Keeps every second, third, ... tick, so that at most `count` remain at equal distances.
std::vector<double> thinned(const std::vector<double>& ticks, int count) {
  const std::size_t stride =
      std::max<std::size_t>(1, (ticks.size() + static_cast<std::size_t>(count) - 1) / static_cast<std::size_t>(count));
  std::vector<double> kept;
  for (std::size_t i = 0; i < ticks.size(); i += stride) kept.push_back(ticks[i]);
  return kept;
}

void make_usable(double& least, double& most) {
  constexpr double largest = 1e300;  // sums must not overflow
  if (!(std::abs(least) < largest && std::abs(most) < largest)) least = 0, most = 1;
  if (least > most) std::swap(least, most);
}

}  // namespace

double Axis::place(double value) const {
  const double from = logarithmic ? std::log(least) : least;
  const double to = logarithmic ? std::log(most) : most;
  const double at = logarithmic ? std::log(value) : value;
  return to > from ? (at - from) / (to - from) : 0.5;
}

Axis linear_axis(double least, double most, int count) {
  make_usable(least, most);
  if (most - least <= 1e-6 * std::max(std::abs(least), std::abs(most))) {  // the ticks would have equal labels
    const double room = least == 0 ? 1 : std::abs(least) / 2;
    least -= room;
    most += room;
  }
  const double step = nice_step((most - least) / std::max(1, count - 1));
  const double first = std::floor(least / step + 1e-9), last = std::ceil(most / step - 1e-9);
  Axis axis{.least = first * step, .most = last * step, .logarithmic = false, .binary = false, .ticks = {}};
  for (double i = first; i <= last; ++i) axis.ticks.push_back(i * step);
  return axis;
}

Axis logarithmic_axis(double least, double most, int count) {
  make_usable(least, most);
  if (least <= 0) return linear_axis(least, most, count);
  if (least == most) least /= 2, most *= 2;
  Axis axis{.least = least, .most = most, .logarithmic = true, .binary = false, .ticks = {}};
  const int first = static_cast<int>(std::floor(std::log10(least))),
            last = static_cast<int>(std::ceil(std::log10(most)));
  static const std::array<std::vector<double>, 2> choices{std::vector<double>{1, 2, 5}, std::vector<double>{1}};
  for (const std::vector<double>& factors : choices) {
    std::vector<double> ticks;
    for (int power = first; power <= last; ++power) {
      for (const double factor : factors) {
        const double tick = factor * std::pow(10.0, power);
        if (tick >= least * (1 - 1e-9) && tick <= most * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    if (ticks.size() < 2 && !axis.ticks.empty()) break;
    axis.ticks = ticks;
    if (ticks.size() >= 2 && ticks.size() <= static_cast<std::size_t>(count)) return axis;
  }
  axis.ticks = thinned(axis.ticks, count);
  return axis.ticks.size() < 2 ? linear_axis(least, most, count) : axis;
}

Axis binary_axis(double least, double most, int count) {
  make_usable(least, most);
  if (least <= 0) return linear_axis(least, most, count);
  const int first = static_cast<int>(std::floor(std::log2(least) + 1e-9));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log2(most) - 1e-9)));
  Axis axis{.least = std::exp2(first), .most = std::exp2(last), .logarithmic = true, .binary = true, .ticks = {}};
  for (int power = first; power <= last; ++power) axis.ticks.push_back(std::exp2(power));
  axis.ticks = thinned(axis.ticks, count);
  return axis;
}

Axis axis_of(const std::vector<double>& values, int count, double decades) {
  if (values.empty()) return linear_axis(0, 1, count);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least > 0 && *most > *least * std::pow(10.0, decades)) return logarithmic_axis(*least, *most, count);
  const bool from_zero = *least >= 0 && *least < 0.6 * *most;
  return linear_axis(from_zero ? 0 : *least, *most, count);
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e15 || size < 1e-4) return fmt::format("{:.3g}", value);
  if (size >= 1e9) return fmt::format("{:.4g}G", value * 1e-9);
  if (size >= 1e6) return fmt::format("{:.4g}M", value * 1e-6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value * 1e-3);
  return fmt::format("{:.4g}", value);
}

std::string binary_tick_text(double value) {
  static const std::array<const char*, 4> units{"", " Ki", " Mi", " Gi"};
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  return fmt::format("{:.4g}{}", value, units[unit]);
}

}  // namespace glinpack::app
