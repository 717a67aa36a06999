// TOML configuration files (toml.io): a flat list of keys and values, which the options then judge.
#pragma once

#include <string>
#include <vector>

#include "app/input/text_file.hpp"

namespace glinpack::app {

/// One key of a file.
struct Setting {
  std::string key;                    // with dashes, "_" having become "-"
  std::vector<std::string> values{};  // as the command line would give them; one, or those of a list
  std::string text{};                 // the value as the file has it, for messages
  int line = 0;                       // 1-based
  bool is_boolean = false;
};

/// In the file's order. Throws InputError, "FILE:LINE: ...": unreadable, not TOML, tables, values of other types than
/// strings, numbers, booleans and lists of these.
std::vector<Setting> settings_of(const std::string& path, TextFiles& files);

}  // namespace glinpack::app
