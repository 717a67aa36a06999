// Text of files and names, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace glinpack {

/// `text` with a blank for every control character, also those of C1, and for bytes that are not UTF-8. `kept`: control
/// characters that stay, such as newlines.
inline std::string without_controls(std::string_view text, std::string_view kept = "") {
  std::string result;
  const auto byte_at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0, length = 1; i < text.size(); i += length) {
    const unsigned byte = byte_at(i);
    length = byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    bool is_printable = byte >= 0x20 && byte != 0x7f && (byte < 0x80 || length > 1);
    for (std::size_t next = 1; next < length; ++next)
      is_printable = is_printable && (byte_at(i + next) & 0xc0U) == 0x80;
    if (!is_printable) length = 1;
    if (byte == 0xc2 && byte_at(i + 1) < 0xa0) is_printable = false;
    if (is_printable || kept.find(text[i]) != std::string_view::npos) {
      result += text.substr(i, length);
    } else {
      result += ' ';
    }
  }
  return result;
}

}  // namespace glinpack
