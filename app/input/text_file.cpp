#include "app/input/text_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

[[noreturn]] void refuse_unreadable(const std::string& path) {
  throw InputError(path + ": cannot be read: " + std::strerror(errno != 0 ? errno : EIO));
}

}  // namespace

std::ifstream open_file(const std::string& path, const std::string& what) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(path + ": no such file; check the path (it is relative to the current directory)");
  }
  if (std::filesystem::is_directory(status)) throw InputError(path + ": is a directory; " + what + " is expected");
  // reading a pipe could block all ranks, and a pipe cannot be read twice
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw InputError(path + ": is not a regular file; copy its content into one");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_unreadable(path);
  return file;
}

std::string read_file(const std::string& path, std::int64_t largest_bytes) {
  std::ifstream file = open_file(path);
  std::string contents;
  char buffer[65536];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    contents.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (static_cast<std::int64_t>(contents.size()) > largest_bytes) {
      throw InputError(path + ": is larger than " + std::to_string(largest_bytes) + " bytes; that is not such a file");
    }
  }
  if (!file.eof()) refuse_unreadable(path);
  return contents;
}

bool TextFiles::exists(const std::string& path) const {
  std::error_code error;
  return received_ ? contents_.contains(path) : std::filesystem::exists(path, error);
}

const std::string& TextFiles::read(const std::string& path, std::int64_t largest_bytes) {
  const auto known = contents_.find(path);
  return known != contents_.end() ? known->second
                                  : contents_.emplace(path, read_file(path, largest_bytes)).first->second;
}

std::vector<std::string> lines_of(const std::string& path, std::string contents) {
  if (contents.starts_with("\xEF\xBB\xBF")) contents.erase(0, 3);
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < contents.size();) {
    const std::size_t end = std::min(contents.find('\n', start), contents.size());
    std::string line = contents.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t' && c != '\r' && c != '\f') || byte == 0x7f) {
        throw InputError(path + ":" + std::to_string(lines.size() + 1) + ": byte " + std::to_string(byte) +
                         " is not text; a text file is expected");
      }
    }
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

namespace {

constexpr std::int64_t largest_config_file = 1 << 20;
constexpr std::size_t longest_line = 10'000;  // bounds the recursion: TOML's dotted keys nest

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string text_of(const toml::node& node) {
  constexpr std::size_t longest = 60;
  std::ostringstream stream;
  node.visit([&stream](const auto& value) { stream << value; });
  std::string text = stream.str();
  std::ranges::replace(text, '\n', ' ');
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
  std::ranges::replace(setting.key, '_', '-');
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
  std::ranges::stable_sort(settings, {}, &Setting::line);
  return settings;
}

}  // namespace glinpack::app
