#include "app/record/text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace glinpack::app {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code <= 0x20 || code == 0x7f;
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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
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
