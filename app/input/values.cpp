#include "app/input/values.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
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

double parse_real(std::string_view text) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    throw InputError(in_quotes(text) + " is not a finite real number; one such as 16.0 is expected");
  }
  return value;
}

double parse_fraction(std::string_view text) {
  const double fraction = parse_real(text);
  if (fraction > 0 && fraction <= 1) return fraction;
  throw InputError(in_quotes(text) + " is out of range; a fraction, more than 0 and at most 1, is expected");
}

double parse_seconds(std::string_view text) {
  constexpr double most = 1e6;
  const double seconds = parse_real(text);
  if (seconds > 0 && seconds <= most) return seconds;
  throw InputError(in_quotes(text) + " is out of range; seconds, more than 0 and at most 1000000, are expected");
}

double parse_minutes(std::string_view text) {
  constexpr double most = 1e5;
  const double minutes = parse_real(text);
  if (minutes > 0 && minutes <= most) return minutes;
  throw InputError(in_quotes(text) + " is out of range; minutes, more than 0 and at most 100000, are expected");
}

double parse_watts(std::string_view text) {
  constexpr double most = 1e9;
  const double watts = parse_real(text);
  if (watts > 0 && watts <= most) return watts;
  throw InputError(in_quotes(text) + " is out of range; watts, more than 0 and at most 1e9, are expected");
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

}  // namespace glinpack::app
