#include "app/page/html.hpp"

namespace glinpack::app {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the first UTF-8 character of `text`; 0 if it is invalid (RFC 3629, section 4).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_large = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

}  // namespace

Html operator""_html(const char* literal, std::size_t length) {
  Html html;
  html.text_.assign(literal, length);
  return html;
}

Html escaped(std::string_view text) {
  Html html;
  std::string& into = html.text_;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char c = text.front();
    if (length == 0 || is_control(c)) {
      into += replacement;
    } else if (c == '&') {
      into += "&amp;";
    } else if (c == '<') {
      into += "&lt;";
    } else if (c == '>') {
      into += "&gt;";
    } else if (c == '"') {
      into += "&quot;";
    } else if (c == '\'') {
      into += "&#39;";
    } else {
      into += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return html;
}

Html element(Markup name, const std::vector<std::pair<Markup, std::string>>& attributes, const Html& content) {
  Html html;
  html.text_.append("<").append(name.view());
  for (const auto& [key, value] : attributes) {
    html.text_.append(" ").append(key.view()).append("=\"").append(escaped(value).str()).append("\"");
  }
  html.text_.append(">").append(content.str()).append("</").append(name.view()).append(">");
  return html;
}

void Table::row(const std::vector<Html>& cells) {
  Html row;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool right = columns_[i].align == Align::right;
    row += element("td", right ? Attributes{{"class", "number"}} : Attributes{}, cells.at(i));
  }
  rows_ += element("tr", row) + "\n"_html;
}

Html Table::html() const {
  Html head;
  for (const Column& column : columns_) {
    Html name = escaped(column.head);
    if (!column.unit.empty()) name += " "_html + element("span", {{"class", "unit"}}, escaped(column.unit));
    const bool right = column.align == Align::right;
    head +=
        element("th", right ? Attributes{{"scope", "col"}, {"class", "number"}} : Attributes{{"scope", "col"}}, name);
  }
  const Html table =
      element("table", element("thead", element("tr", head)) + "\n"_html + element("tbody", "\n"_html + rows_));
  // focusable, so that the keyboard can scroll it
  return element("div", {{"class", "scroll"}, {"tabindex", "0"}}, table) + "\n"_html;
}

}  // namespace glinpack::app
