// The options of a command as a list of fields. The command line, --help, the keys of TOML files, the JSON of result
// files, the man pages, shell completion and docs/options.md are folds over this list. Error messages name the option,
// the value and the remedy.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"
#include "matrix/distribution.hpp"

namespace glinpack::app {

using Texts = std::vector<std::string>;

/// The value of an option: how it is read from text, and its JSON.
struct FieldValue {
  enum class Form { one, list, flag, positional };
  Form form = Form::one;
  std::string type;                        // what --help calls it: "COUNT", "single|double", "N,..."; a flag has none
  std::function<void(const Texts&)> read;  // one text, those of a list, none of a flag; throws InputError
  std::function<nlohmann::json()> json;    // null: unset
  int max = 1;                             // positional: number of values
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

/// What follows the options.
struct Footer {
  std::string examples = {};                   // a command per line
  Texts notes = {};                            // paragraphs
  std::map<int, std::string> exit_codes = {};  // what each means
};

/// Words and their meanings: subcommands, environment variables, files.
struct WordList {
  std::string heading;
  std::vector<std::pair<std::string, std::string>> words;
  bool in_help = true;  // else in the man page and the document alone
};

/// A command and its options. The printer fills texts into lines.
struct OptionTable {
  std::string program = "glinpack";
  std::string command;  // "plu"; empty: the program itself
  std::string description;
  Footer footer = {};
  std::vector<FieldGroup> groups = {};
  std::vector<WordList> word_lists = {};
};
/// --config: a TOML file with the names of the table as keys.
Field config_field(std::string& config);
/// --log-level, which sets the level of the log (app/program/log.hpp) when it is read.
Field log_level_field();
/// trace, debug, info, warn, error, off
const Texts& log_level_names();
/// Throws InputError for an unknown level.
void set_log_level(const std::string& name);
std::string log_level();
/// Moves the fields `names` to a first group, "Common options".
OptionTable with_common_options(OptionTable table, const Texts& names);
/// "output" of "output,-o".
std::string key_of(const Field& field);
/// As on the command line: "-o" and "--output"; the name of a positional value.
Texts names_of(const Field& field);
/// The groups with --help, which no table names. A group without a name gets one.
std::vector<FieldGroup> groups_with_help(const OptionTable& table);
template <class... Lists>
std::vector<Field> joined(std::vector<Field> fields, const Lists&... lists) {
  (fields.insert(fields.end(), lists.begin(), lists.end()), ...);
  return fields;
}

// Values. Each refers to the option it sets, which must outlive it. `type`: of --help.
FieldValue flag(bool& option);
/// A number that parse_size() reads, or an optional one: int, Index, std::uint64_t.
template <class Number>
FieldValue whole(Number& option, Index min, Index max, std::string type = "COUNT");
FieldValue wholes(std::vector<Index>& option, Index min, Index max, std::string type);
/// A double, or an optional one.
template <class Real>
FieldValue real(Real& option, std::string type, double (*parse)(std::string_view));
/// A text that may not be empty, such as a file's name.
FieldValue text(std::string& option, std::string type);
/// Any other option with one text, or with a list of texts. An empty text, or no text, is null in JSON.
FieldValue word(std::string type, std::function<void(const std::string&)> read, std::function<std::string()> print);
FieldValue words(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print);
/// Values without a name, such as files: at most `max`. `type`: "FILE".
FieldValue positional(Texts& option, int max);

/// The one of `names` that is `text`. Throws InputError, naming all and the nearest one; `others`: also valid.
std::size_t choose(const std::string& text, std::span<const std::string> names, const std::string& others = "");
/// The names of enumerators, in their order.
template <class Kinds>
Texts names_of(const Kinds& kinds) {
  Texts names;
  for (const auto& kind : kinds) names.emplace_back(name_of(kind));
  return names;
}
/// A name of an enumerator: its name_of(), or its alias_of() if the type has aliases.
template <class Kind>
struct Spelling {
  std::string name;
  Kind kind;
};
/// The names of all enumerators, each followed by its alias.
template <class Kinds>
auto spellings_of(const Kinds& kinds) {
  std::vector<Spelling<typename Kinds::value_type>> spellings;
  for (const auto& kind : kinds) {
    spellings.push_back({std::string(name_of(kind)), kind});
    if constexpr (requires { alias_of(kind); }) {
      if (!alias_of(kind).empty()) spellings.push_back({std::string(alias_of(kind)), kind});
    }
  }
  return spellings;
}
/// The names alone, for --help.
template <class Kinds>
Texts all_names_of(const Kinds& kinds) {
  Texts names;
  for (const auto& spelling : spellings_of(kinds)) names.push_back(spelling.name);
  return names;
}
/// The enumerator with this name. Throws InputError like choose().
template <class Kinds>
auto kind_named(const std::string& text, const Kinds& kinds) {
  return spellings_of(kinds)[choose(text, all_names_of(kinds))].kind;
}
/// One of the enumerators `kinds`, by its name or alias.
template <class Kind, class Kinds>
FieldValue choice(Kind& option, const Kinds& kinds) {
  return word(
      one_of(all_names_of(kinds)), [&option, &kinds](const std::string& t) { option = kind_named(t, kinds); },
      [&option] { return std::string(name_of(option)); });
}

/// Fills in the options of a table; returns the names of those that were given. Throws InputError.
std::set<std::string> parse_arguments(const Texts& arguments, const OptionTable& table);
/// Every key of a TOML file; returns them. Throws InputError, "FILE:LINE: ...".
std::set<std::string> read_config_file(const std::string& path, TextFiles& files, const OptionTable& table);
/// Every named option but --config; unset ones null.
nlohmann::json to_json(const OptionTable& table);
template <class Options>
auto to_json(Options options, OptionTable (*table)(Options&)) {
  return to_json(table(options));
}
/// The table with default values.
template <class Options>
OptionTable default_table(OptionTable (*table)(Options&)) {
  static Options defaults;
  return table(defaults);
}
/// For lists of commands.
template <auto table>
OptionTable table_of() {
  return default_table(table);
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
