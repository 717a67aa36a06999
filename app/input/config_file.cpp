#include "app/input/config_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

constexpr std::int64_t largest_config_file = 1 << 20;
constexpr std::size_t longest_line = 10'000;  // bounds the recursion: TOML's dotted keys nest

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string text_of(const toml::node& node) {
  constexpr std::size_t longest = 60;
  std::ostringstream stream;
  node.visit([&stream](const auto& value) { stream << value; });
  std::string text = stream.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

[[noreturn]] void fail(const std::string& path, int line, const std::string& message) {
  throw InputError(path + ":" + std::to_string(line) + ": " + message);
}

// The value as the command line would have it: a string, number or boolean.
std::string scalar(const toml::node& node, const std::string& path, const std::string& key) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (node.is_floating_point() || node.is_boolean()) return text_of(node);
  fail(path, line_of(node), key + " = " + text_of(node) + ": a string, a number, true or false, or a list is expected");
}

Setting setting_of(const std::string& path, const std::string& name, const toml::node& node) {
  Setting setting{.key = name, .text = text_of(node), .line = line_of(node), .is_boolean = node.is_boolean()};
  std::replace(setting.key.begin(), setting.key.end(), '_', '-');
  if (node.is_table()) {
    fail(path, setting.line, "table [" + name + "] is not expected; all keys stand at the top, without tables");
  }
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) setting.values.push_back(scalar(item, path, name));
  } else {
    setting.values.push_back(scalar(node, path, name));
  }
  return setting;
}

}  // namespace

std::vector<Setting> settings_of(const std::string& path, TextFiles& files) {
  const std::string& contents = files.read(path, largest_config_file);
  int line = 0;
  for (const std::string& text : lines_of(path, contents)) {  // throws unless it is a text file
    ++line;
    if (text.size() > longest_line) {
      fail(path, line, "the line has more than " + std::to_string(longest_line) + " characters; break it");
    }
  }
  toml::table table;
  try {
    table = toml::parse(contents, path);
  } catch (const toml::parse_error& error) {
    fail(path, static_cast<int>(error.source().begin.line), "not TOML: " + std::string(error.description()));
  }
  std::vector<Setting> settings;
  for (const auto& [key, node] : table) settings.push_back(setting_of(path, std::string(key), node));
  std::stable_sort(settings.begin(), settings.end(),
                   [](const Setting& a, const Setting& b) { return a.line < b.line; });
  return settings;
}

}  // namespace glinpack::app
