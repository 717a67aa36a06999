#include "app/page/numbers.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <ctime>

namespace glinpack::app {

std::string figures(const std::optional<double>& value) { return value ? figures(*value) : "-"; }

std::string duration(double seconds) {
  if (seconds == 0 || seconds >= 1) return figures(seconds) + " s";
  if (seconds >= 1e-3) return figures(seconds * 1e3) + " ms";
  return figures(seconds * 1e6) + " us";
}

std::string amount_of_bytes(double bytes) {
  static const std::array<const char*, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return (unit == 0 ? fmt::format("{:.0f}", bytes) : figures(bytes)) + " " + units[unit];
}

std::string date_text(double seconds_since_1970) {
  constexpr double largest = 253402300799;  // the end of the year 9999
  if (!(seconds_since_1970 >= 0 && seconds_since_1970 <= largest)) return "not known";
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  char text[64];
  const std::size_t written = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &fields);
  return {text, written};
}

}  // namespace glinpack::app
