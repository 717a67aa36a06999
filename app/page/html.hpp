// HTML that is built only from the program's literals and escaped text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace glinpack::app {

/// A literal of the program. A std::string, such as file content, does not convert to it.
class Markup {
 public:
  template <std::size_t length>
  constexpr Markup(const char (&literal)[length])
      : text_(literal, length - 1) {}  // NOLINT: a literal converts to Markup implicitly
  constexpr std::string_view view() const { return text_; }

 private:
  std::string_view text_;
};

/// A piece of a page. It escapes all text.
class Html {
 public:
  Html() = default;

  Html& operator+=(const Html& more) {
    text_ += more.text_;
    return *this;
  }
  friend Html operator+(Html first, const Html& second) { return std::move(first += second); }

  bool empty() const { return text_.empty(); }
  const std::string& str() const { return text_; }

 private:
  friend Html escaped(std::string_view text);
  friend Html operator""_html(const char* literal, std::size_t length);
  friend Html element(Markup name, const std::vector<std::pair<Markup, std::string>>& attributes, const Html& content);
  std::string text_;
};

/// A literal that is HTML.
Html operator""_html(const char* literal, std::size_t length);

/// Escapes text for content and quoted attributes: & < > " ' become references. Characters that HTML forbids, and bytes
/// that are not UTF-8, become U+FFFD.
Html escaped(std::string_view text);

using Attributes = std::vector<std::pair<Markup, std::string>>;

/// <name attribute="value" ...>content</name>. Escapes the values.
Html element(Markup name, const Attributes& attributes, const Html& content);
inline Html element(Markup name, const Html& content) { return element(name, {}, content); }
inline Html text_element(Markup name, std::string_view text) { return element(name, {}, escaped(text)); }

/// The alignment of a column's cells.
enum class Align { left, right };

/// A table that scrolls if it is wider than the page.
class Table {
 public:
  struct Column {
    std::string head;
    Align align = Align::left;
    std::string unit = {};
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Needs one cell per column.
  void row(const std::vector<Html>& cells);
  bool empty() const { return rows_.empty(); }
  Html html() const;

 private:
  std::vector<Column> columns_;
  Html rows_;
};

}  // namespace glinpack::app
