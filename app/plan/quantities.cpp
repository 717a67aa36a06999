#include "app/plan/quantities.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <span>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/program/program_context.hpp"

namespace glinpack::app {

namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr double kibi = 1024;

constexpr std::array byte_units{Unit{"K", 1e3},
                                Unit{"M", 1e6},
                                Unit{"G", 1e9},
                                Unit{"T", 1e12},
                                Unit{"KB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"KiB", kibi},
                                Unit{"MiB", kibi* kibi},
                                Unit{"GiB", kibi* kibi* kibi},
                                Unit{"TiB", kibi* kibi* kibi* kibi}};

constexpr double bit = 1.0 / 8;
constexpr std::array rate_units{
    Unit{"Kb/s", bit * 1e3},   Unit{"Mb/s", bit * 1e6},   Unit{"Gb/s", bit * 1e9},   Unit{"Tb/s", bit * 1e12},
    Unit{"Kbit/s", bit * 1e3}, Unit{"Mbit/s", bit * 1e6}, Unit{"Gbit/s", bit * 1e9}, Unit{"Tbit/s", bit * 1e12},
    Unit{"kbit", bit * 1e3},   Unit{"mbit", bit * 1e6},   Unit{"gbit", bit * 1e9},   Unit{"tbit", bit * 1e12},
    Unit{"KB/s", 1e3},         Unit{"MB/s", 1e6},         Unit{"GB/s", 1e9},         Unit{"TB/s", 1e12}};

constexpr std::array time_units{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};

// Parses a number above 0 and its unit; `what` names the expected value in messages.
double parse_quantity(std::string_view text, std::span<const Unit> units, const std::string& what) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, end);
  std::string_view unit = end == std::string_view::npos ? "" : text.substr(end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (number.empty()) throw InputError(in_quotes(text) + " has no number; " + what + " is expected");
  if (unit.empty()) throw InputError(in_quotes(text) + " has no unit; " + what + " is expected");
  for (const Unit& known : units) {
    if (unit != known.name) continue;
    const double value = parse_real(number) * known.scale;
    if (value > 0 && std::isfinite(value)) return value;
    throw InputError(in_quotes(text) + " is out of range; more than 0 is expected");
  }
  throw InputError(in_quotes(text) + " has the unit " + in_quotes(unit) + ", which is unknown here; " + what +
                   " is expected");
}

std::string with_prefix(double value, const char* unit) {
  constexpr std::array<const char*, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", four_digits(value), prefixes[prefix], unit);
}

}  // namespace

double parse_bytes(std::string_view text) {
  return parse_quantity(text, byte_units, "an amount of memory with its unit, such as 80G or 64GiB,");
}

double parse_link_rate(std::string_view text) {
  return parse_quantity(text, rate_units, "a rate with its unit, bits as in 100Gb/s or bytes as in 12.5GB/s,");
}

double parse_latency(std::string_view text) {
  return parse_quantity(text, time_units, "a time with its unit, such as 2us,");
}

std::string link_rate_text(double bytes_a_second) { return with_prefix(bytes_a_second, "B/s"); }

std::string flop_rate_text(double flops_a_second) { return with_prefix(flops_a_second, "FLOPS"); }

std::string seconds_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds >= 2 * hour) return fmt::format("{:.2f} h", seconds / hour);
  if (seconds >= 10 * minute) return fmt::format("{:.1f} min", seconds / minute);
  if (seconds >= 1) return four_digits(seconds) + " s";
  if (seconds >= 1e-3) return four_digits(seconds * 1e3) + " ms";
  return four_digits(seconds * 1e6) + " us";
}

}  // namespace glinpack::app
