#include "app/record/text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace glinpack::app {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code <= 0x20 || code == 0x7f;
}

std::string with_prefix(double value, const char* unit) {
  constexpr std::array<const char*, 7> prefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", figures(value), prefixes[prefix], unit);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace

std::string free_text(std::string_view text) {
  std::string line;
  bool blank = false;
  for (const char c : text) {
    if (is_blank(c)) {
      blank = true;
      continue;
    }
    if (blank && !line.empty()) line += is_digit(line.back()) && is_digit(c) ? ", " : " ";
    blank = false;
    line += c;
  }
  return line;
}

std::string figures(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-4 || size >= 1e9) return fmt::format("{:.3e}", value);
  const int digits_before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, 4 - digits_before));
}

std::string link_rate_text(double bytes_a_second) { return with_prefix(bytes_a_second, "B/s"); }

std::string flop_rate_text(double flops_a_second) { return with_prefix(flops_a_second, "FLOPS"); }

std::string seconds_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds >= 2 * hour) return fmt::format("{:.2f} h", seconds / hour);
  if (seconds >= 10 * minute) return fmt::format("{:.1f} min", seconds / minute);
  if (seconds >= 1) return figures(seconds) + " s";
  if (seconds >= 1e-3) return figures(seconds * 1e3) + " ms";
  constexpr double rounding = 1e-10;  // of differences
  return figures(seconds < rounding ? 0 : seconds * 1e6) + " us";
}

std::vector<CsvColumn> csv_columns(std::string_view words) {
  std::vector<CsvColumn> columns;
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    const std::size_t end = word.find('=');
    columns.push_back({word.substr(0, end), "/" + word.substr(end == std::string::npos ? 0 : end + 1)});
  }
  return columns;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty()) line += ',';
    line += csv_field(field);
  }
  return line + '\n';
}

}  // namespace glinpack::app
