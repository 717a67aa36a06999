#include "app/report/free_text.hpp"

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

}  // namespace glinpack::app
