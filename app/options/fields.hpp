// The options of a command as a list of fields. The command line, --help, the keys of TOML files and the JSON of result
// files are folds over this list. Error messages name the option, the value and the remedy.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/text_file.hpp"
#include "matrix/distribution.hpp"

namespace glinpack::app {

using Texts = std::vector<std::string>;

/// The value of an option: how it is read from text, and its JSON.
struct FieldValue {
  enum class Form { one, list, flag, positional };
  Form form = Form::one;
  std::string type;                        // what --help calls it: "COUNT", "single|double"
  std::function<void(const Texts&)> read;  // one text, those of a list, none of a flag; throws InputError
  std::function<nlohmann::json()> json;    // null: unset
  int most = 1;                            // positional: number of values
};

struct Field {
  std::string name;  // without dashes; "output,-o" has a short form, too
  FieldValue value;
  std::string help;               // with units
  std::string default_text = {};  // empty: that of the value
  std::string excludes = {};      // a field that may not be given, too
};

struct FieldGroup {
  std::string name;
  std::vector<Field> fields;
};

/// A command and its options.
struct OptionTable {
  std::string command;  // "plu"
  std::string description;
  std::string footer;  // examples, units, exit codes
  std::vector<FieldGroup> groups;
};
/// --config: a TOML file with the names of the table as keys.
Field config_field(std::string& config);
/// --log-level, which sets the level of the log (app/log.hpp) when it is read.
Field log_level_field();
template <class... Lists>
std::vector<Field> joined(std::vector<Field> fields, const Lists&... lists) {
  (fields.insert(fields.end(), lists.begin(), lists.end()), ...);
  return fields;
}

// Values. Each refers to the option it sets, which must outlive it. `type`: of --help.
FieldValue flag(bool& option);
/// A flag that sets something else than a bool.
FieldValue flag(std::function<void()> set, std::function<bool()> is_set);
FieldValue whole(int& option, Index least, Index most, std::string type = "COUNT");
FieldValue whole(Index& option, Index least, Index most, std::string type = "COUNT");
FieldValue whole(std::uint64_t& option, Index least, Index most, std::string type = "COUNT");
FieldValue whole(std::optional<int>& option, Index least, Index most, std::string type = "COUNT");
FieldValue whole(std::optional<Index>& option, Index least, Index most, std::string type = "COUNT");
FieldValue wholes(std::vector<Index>& option, Index least, Index most, std::string type);
FieldValue real(double& option, std::string type, double (*parse)(std::string_view));
FieldValue real(std::optional<double>& option, std::string type, double (*parse)(std::string_view));
/// A text that may not be empty, such as a file's name.
FieldValue text(std::string& option, std::string type);
/// Any other option with one text, or with a list of texts. An empty text, or no text, is null in JSON.
FieldValue word(std::string type, std::function<void(const std::string&)> read, std::function<std::string()> print);
FieldValue words(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print);
/// Values without a name, such as files: at most `most`. `type`: "FILE".
FieldValue positional(Texts& option, int most);

/// The one of `names` that is `text`. Throws InputError, naming all and the nearest one; `others`: also valid.
std::size_t choose(const std::string& text, std::span<const std::string> names, const std::string& others = "");
/// The names of enumerators, in their order.
template <class Kinds>
Texts names_of(const Kinds& kinds) {
  Texts names;
  for (const auto kind : kinds) names.emplace_back(name_of(kind));
  return names;
}
/// One of the enumerators `kinds`, by its name_of().
template <class Kind, class Kinds>
FieldValue choice(Kind& option, const Kinds& kinds) {
  return word(
      one_of(names_of(kinds)), [&option, &kinds](const std::string& t) { option = kinds[choose(t, names_of(kinds))]; },
      [&option] { return std::string(name_of(option)); });
}

/// Fills in the options of a table; returns the names of those that were given. Throws InputError.
std::set<std::string> parse_arguments(const Texts& arguments, const OptionTable& table);
/// Every key of a TOML file; returns them. Throws InputError, "FILE:LINE: ...".
std::set<std::string> read_config_file(const std::string& path, TextFiles& files, const OptionTable& table);
/// Every named option but --config; unset ones null.
nlohmann::json to_json(const OptionTable& table);
/// What --help prints.
std::string help_of(const OptionTable& table);
template <class Options>
auto to_json(Options options, OptionTable (*table)(Options&)) {
  return to_json(table(options));
}
template <class Options>
std::string help_of(OptionTable (*table)(Options&)) {
  Options defaults;
  return help_of(table(defaults));
}
/// For lists of commands.
template <auto table>
std::string help_of() {
  return help_of(table);
}

/// Options, and which of them were given where; names without dashes.
template <class Options>
struct Parsed {
  Options options;
  std::set<std::string> on_command_line;
  std::set<std::string> in_file;

  bool given(const std::string& name) const { return on_command_line.contains(name) || in_file.contains(name); }
};

/// Command line over file (its option config, if it has one) over default.
template <class Options>
Parsed<Options> parse(const Texts& arguments, OptionTable (*table)(Options&), TextFiles& files) {
  Parsed<Options> parsed;
  Options from_command_line;
  parsed.on_command_line = parse_arguments(arguments, table(from_command_line));
  if constexpr (requires { from_command_line.config; }) {
    if (!from_command_line.config.empty()) {
      parsed.in_file = read_config_file(from_command_line.config, files, table(parsed.options));
      parse_arguments(arguments, table(parsed.options));
      return parsed;
    }
  }
  parsed.options = from_command_line;
  return parsed;
}
template <class Options>
Parsed<Options> parse(const Texts& arguments, OptionTable (*table)(Options&)) {
  TextFiles files;
  return parse(arguments, table, files);
}
/// The options alone, as parse_alike() calls it.
template <auto table>
auto options_of(const Texts& arguments, TextFiles& files) {
  return parse(arguments, table, files).options;
}

}  // namespace glinpack::app
