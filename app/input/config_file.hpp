// TOML configuration files (toml.io): a flat list of keys and values. The option tables check them.
#pragma once

#include <string>
#include <vector>

#include "app/input/text_file.hpp"

namespace glinpack::app {

/// One key and its value.
struct Setting {
  std::string key;                    // with dashes, "_" having become "-"
  std::vector<std::string> values{};  // in the command line's form; one, or the elements of a list
  std::string text{};                 // the value as written in the file, for messages
  int line = 0;                       // 1-based
  bool is_boolean = false;
};

/// The settings in file order. Throws InputError ("FILE:LINE: ...") if the file is unreadable, is not TOML or has
/// tables. Values are strings, numbers, booleans, or lists of these.
std::vector<Setting> settings_of(const std::string& path, TextFiles& files);

}  // namespace glinpack::app
