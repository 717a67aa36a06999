#include "app/input/values.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <utility>

#include "app/input/input_error.hpp"
#include "matrix/matrix_formulas.hpp"

namespace glinpack::app {

namespace {

std::string range_text(Index minimum, Index maximum) {
  return "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum) + " is expected";
}

std::string_view without_plus(std::string_view text) {
  const bool signed_number = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return signed_number ? text.substr(1) : text;
}

// digits * 10^exponent * unit
struct Scaled {
  Index digits = 0;
  int exponent = 0;
  Index unit = 1;
};

// The value of "1.5e3", "8k" or "8Ki"; empty for other text, such as "8000".
std::optional<Scaled> scaled_number(std::string_view text) {
  static const std::regex form(R"((\d{1,12})(?:\.(\d{0,6}))?(?:[eE]\+?(-?\d{1,3}))?([kKM]i?)?)");
  std::match_results<std::string_view::const_iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, form)) return {};
  const std::string fraction = parts.str(2), exponent = parts.str(3), unit = parts.str(4);
  if (!parts[2].matched && exponent.empty() && unit.empty()) return {};
  Scaled number{.digits = std::stoll(parts.str(1) + fraction),
                .exponent = (exponent.empty() ? 0 : std::stoi(exponent)) - static_cast<int>(fraction.size())};
  if (unit == "Ki") number.unit = Index{1} << 10;
  if (unit == "Mi") number.unit = Index{1} << 20;
  if (unit == "k" || unit == "K") number.exponent += 3;
  if (unit == "M") number.exponent += 6;
  return number;
}

// Stands for all numbers that no Index holds. Scaled, which has up to 18 digits, is never this number itself.
constexpr Index too_large = std::numeric_limits<Index>::max();

// Empty: a fraction.
std::optional<Index> whole_value(const Scaled& number) {
  Index value = 0;
  if (__builtin_mul_overflow(number.digits, number.unit, &value)) return too_large;
  for (int i = number.exponent; i < 0; ++i) {
    if (value % 10 != 0) return {};
    value /= 10;
  }
  for (int i = 0; i < number.exponent; ++i) {
    if (__builtin_mul_overflow(value, 10, &value)) return too_large;
  }
  return value;
}

bool is_separator(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
    result += printable ? c : '?';
  }
  return result + (text.size() > longest ? "...'" : "'");
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Index parse_whole(std::string_view text, Index minimum, Index maximum) {
  const std::string_view digits = without_plus(text);
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all_read = end == digits.data() + digits.size() && !digits.empty();
  if (error == std::errc::invalid_argument || !all_read) {
    throw InputError(in_quotes(text) + " is not a whole number; " + range_text(minimum, maximum));
  }
  if (error == std::errc::result_out_of_range || value < minimum || value > maximum) {
    throw InputError(in_quotes(text) + " is out of range; " + range_text(minimum, maximum));
  }
  return value;
}

Index parse_size(std::string_view text, Index minimum, Index maximum) {
  const std::optional<Scaled> number = scaled_number(text);
  if (!number) return parse_whole(text, minimum, maximum);
  const std::optional<Index> value = whole_value(*number);
  if (!value) {
    throw InputError(in_quotes(text) + " is not a whole number (k is 1000, Ki is 1024); " +
                     range_text(minimum, maximum));
  }
  if (*value < minimum || *value > maximum || *value == too_large) {
    throw InputError(in_quotes(text) + " is out of range; " + range_text(minimum, maximum));
  }
  return *value;
}

std::optional<double> real_of(std::string_view text) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return {};
  return value;
}

double parse_real(std::string_view text) {
  if (const std::optional<double> value = real_of(text)) return *value;
  throw InputError(in_quotes(text) + " is not a finite real number; one such as 16.0 is expected");
}

namespace {

// A real number that is more than 0 and at most `max`.
double parse_positive(std::string_view text, double max, const char* expected) {
  const double value = parse_real(text);
  if (value > 0 && value <= max) return value;
  throw InputError(in_quotes(text) + " is out of range; " + expected + " expected");
}

}  // namespace

double parse_fraction(std::string_view text) {
  return parse_positive(text, 1, "a fraction, more than 0 and at most 1, is");
}

double parse_seconds(std::string_view text) {
  return parse_positive(text, 1e6, "seconds, more than 0 and at most 1000000, are");
}

double parse_minutes(std::string_view text) {
  return parse_positive(text, 1e5, "minutes, more than 0 and at most 100000, are");
}

double parse_watts(std::string_view text) {
  return parse_positive(text, 1e9, "watts, more than 0 and at most 1e9, are");
}

GridShape parse_grid(std::string_view text) {
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string_view::npos) {
    throw InputError(in_quotes(text) + " is not a process grid; PxQ is expected, for example 2x3");
  }
  try {
    const Index rows = parse_whole(text.substr(0, cross), 1, largest_processes);
    const Index columns = parse_whole(text.substr(cross + 1), 1, largest_processes);
    if (rows * columns > largest_processes) {
      throw InputError(std::to_string(rows * columns) + " processes are more than the " +
                       std::to_string(largest_processes) + " that glinpack can address");
    }
    return {static_cast<int>(rows), static_cast<int>(columns)};
  } catch (const InputError& error) {
    throw InputError(in_quotes(text) + " is not a process grid PxQ: " + error.what());
  }
}

std::vector<std::string> split_list(const std::vector<std::string>& tokens) {
  std::vector<std::string> parts;
  std::string part;
  bool value_due = true;  // at the start and after a comma
  bool after_comma = false;
  const auto finish_part = [&] {
    if (part.empty()) return;
    parts.push_back(std::exchange(part, {}));
    value_due = after_comma = false;
  };
  const std::string empty_value = " has an empty value in its list";
  for (const std::string& token : tokens) {
    for (const char c : token) {
      if (c == ',') {
        finish_part();
        if (value_due) throw InputError(in_quotes(token) + empty_value);
        value_due = after_comma = true;
      } else if (is_separator(c)) {
        finish_part();
      } else {
        part += c;
      }
    }
    finish_part();
  }
  if (after_comma) throw InputError(in_quotes(tokens.back()) + empty_value);
  if (parts.empty()) throw InputError("the list is empty; at least one value is expected");
  if (parts.size() > longest_list) {
    throw InputError("the list has " + std::to_string(parts.size()) + " values; at most " +
                     std::to_string(longest_list) + " are allowed");
  }
  return parts;
}

std::string memory_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // three rows of the distance table: for the prefixes of a that are two, one and no characters shorter
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> names) {
  const std::string wanted = in_lower_case(std::string(given));
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(wanted, in_lower_case(name));
    if (!best || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  // a name that differs in more than a third of its letters is not a misspelling
  if (best && best_distance > std::max<std::size_t>(1, std::max(best->size(), given.size()) / 3)) return std::nullopt;
  return best;
}

std::string did_you_mean(std::string_view given, std::span<const std::string> names) {
  const std::optional<std::string> nearest = nearest_name(given, names);
  return nearest ? " (did you mean " + *nearest + "?)" : "";
}

std::string enumerate(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string one_of(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

std::string some_of(std::span<const std::string> names, const std::vector<std::string>& others) {
  return one_of(names) + "|" + one_of(others) + ",...";
}

namespace {

using Units = std::map<std::string, double>;

// Adds `unit` with each of the prefixes: `step` times `scale`, the square of `step` times `scale`, ...
void add_prefixed(Units& units, std::string_view prefixes, const std::string& unit, double scale, double step) {
  for (const char prefix : prefixes) units[prefix + unit] = scale *= step;
}

Units byte_units() {
  Units units;
  for (const char* unit : {"", "B"}) add_prefixed(units, "KMGT", unit, 1, 1000);
  add_prefixed(units, "KMGT", "iB", 1, 1024);
  return units;
}

Units rate_units() {
  constexpr double bit = 1.0 / 8;
  Units units;
  for (const char* unit : {"b/s", "bit/s", "bps"}) add_prefixed(units, "KMGT", unit, bit, 1000);
  add_prefixed(units, "kmgt", "bit", bit, 1000);
  add_prefixed(units, "KMGT", "B/s", 1, 1000);
  return units;
}

// Parses a number above 0 and its unit; `what` names the expected value in messages.
double parse_quantity(std::string_view text, const Units& units, const std::string& what) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  const std::string unit(text.substr(std::min(text.find_first_not_of(' ', end), text.size())));
  if (number.empty()) throw InputError(in_quotes(text) + " has no number; " + what + " is expected");
  if (unit.empty()) throw InputError(in_quotes(text) + " has no unit; " + what + " is expected");
  const auto known = units.find(unit);
  if (known == units.end()) {
    throw InputError(in_quotes(text) + " has the unit " + in_quotes(unit) + ", which is unknown here; " + what +
                     " is expected");
  }
  const double value = parse_real(number) * known->second;
  if (value > 0 && std::isfinite(value)) return value;
  throw InputError(in_quotes(text) + " is out of range; more than 0 is expected");
}

}  // namespace

double parse_bytes(std::string_view text) {
  return parse_quantity(text, byte_units(), "an amount of memory with its unit, such as 80G or 64GiB,");
}

double parse_link_rate(std::string_view text) {
  return parse_quantity(text, rate_units(), "a rate with its unit, bits as in 100Gb/s or bytes as in 12.5GB/s,");
}

double parse_latency(std::string_view text) {
  const Units units{{"ns", 1e-9}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return parse_quantity(text, units, "a time with its unit, such as 2us,");
}

}  // namespace glinpack::app
