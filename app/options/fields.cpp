#include "app/options/fields.hpp"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace glinpack::app {

namespace {

constexpr const char* config_name = "config";
constexpr const char* log_level_name = "log-level";

// In the order of log_level_names().
constexpr std::array log_levels{spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};

using nlohmann::json;
using Form = FieldValue::Form;

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

// null: unset
template <class Value>
json json_of(const Value& option) {
  if constexpr (requires { option.has_value(); }) {
    return option ? json(*option) : json();
  } else {
    return option;
  }
}

}  // namespace

Field config_field(std::string& config) {
  return {config_name, text(config, "FILE"),
          "TOML file whose keys are these options without dashes; the command line takes precedence (docs/input.md)"};
}

Field log_level_field() {
  return {log_level_name, word(one_of(log_level_names()), set_log_level, log_level),
          "Messages on stderr: progress and warnings (info), choices, memory and each rank's place and device (debug; "
          "also --verbose), every pass (trace)",
          "GLINPACK_LOG, else info"};
}

const Texts& log_level_names() {
  static const Texts names{"trace", "debug", "info", "warn", "error", "off"};
  return names;
}

void set_log_level(const std::string& name) { spdlog::set_level(log_levels[choose(name, log_level_names())]); }

std::string log_level() {
  const auto level = std::ranges::find(log_levels, spdlog::get_level());
  return log_level_names()[static_cast<std::size_t>(level - log_levels.begin())];
}

FieldValue flag(bool& option) {
  return {.form = Form::flag,
          .type = "",
          .read = [&option](const Texts&) { option = true; },
          .json = [&option] { return json(option); }};
}

template <class Number>
FieldValue whole(Number& option, Index min, Index max, std::string type) {
  return {.type = std::move(type),
          .read = [&option, min,
                   max](const Texts& texts) { option = static_cast<Number>(parse_size(texts.front(), min, max)); },
          .json = [&option] { return json_of(option); }};
}
template FieldValue whole(int&, Index, Index, std::string);
template FieldValue whole(Index&, Index, Index, std::string);
template FieldValue whole(std::uint64_t&, Index, Index, std::string);
template FieldValue whole(std::optional<int>&, Index, Index, std::string);
template FieldValue whole(std::optional<Index>&, Index, Index, std::string);

FieldValue wholes(std::vector<Index>& option, Index min, Index max, std::string type) {
  return {.form = Form::list,
          .type = std::move(type),
          .read =
              [&option, min, max](const Texts& texts) {
                option.clear();
                for (const std::string& one : texts) option.push_back(parse_size(one, min, max));
              },
          .json = [&option] { return json(option); }};
}

template <class Real>
FieldValue real(Real& option, std::string type, double (*parse)(std::string_view)) {
  return {.type = std::move(type),
          .read = [&option, parse](const Texts& texts) { option = parse(texts.front()); },
          .json = [&option] { return json_of(option); }};
}
template FieldValue real(double&, std::string, double (*)(std::string_view));
template FieldValue real(std::optional<double>&, std::string, double (*)(std::string_view));

FieldValue text(std::string& option, std::string type) {
  return {.type = std::move(type),
          .read =
              [&option](const Texts& texts) {
                if (texts.front().empty()) throw InputError("the name is empty");
                if (texts.front().starts_with("--")) {
                  throw InputError(in_quotes(texts.front()) + " looks like an option; a value is expected before it");
                }
                option = texts.front();
              },
          .json = [&option] { return text_or_null(option); }};
}

FieldValue word(std::string type, std::function<void(const std::string&)> read, std::function<std::string()> print) {
  return {.type = std::move(type),
          .read = [read = std::move(read)](const Texts& texts) { read(texts.front()); },
          .json = [print = std::move(print)] { return text_or_null(print()); }};
}

FieldValue words(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print) {
  return {.form = Form::list, .type = std::move(type), .read = std::move(read), .json = [print = std::move(print)] {
            const Texts texts = print();
            return texts.empty() ? json() : json(texts);
          }};
}

FieldValue positional(Texts& option, int max) {
  return {.form = Form::positional,
          .type = "",
          .read = [&option](const Texts& texts) { option = texts; },
          .json = [&option] { return json(option); },
          .max = max};
}

std::size_t choose(const std::string& text, std::span<const std::string> names, const std::string& others) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError(in_quotes(text) + " is not one of " + enumerate(names) + (others.empty() ? "" : ", nor " + others) +
                   did_you_mean(text, names));
}

OptionTable with_common_options(OptionTable table, const Texts& names) {
  FieldGroup common{.name = "Common options", .fields = {}};
  for (const std::string& name : names) {
    for (FieldGroup& group : table.groups) {
      const auto is_wanted = [&name](const Field& field) { return key_of(field) == name; };
      const auto found = std::ranges::find_if(group.fields, is_wanted);
      if (found == group.fields.end()) continue;
      common.fields.push_back(*found);
      group.fields.erase(found);
    }
  }
  table.groups.insert(table.groups.begin(), std::move(common));
  return table;
}

std::string key_of(const Field& field) { return field.name.substr(0, field.name.find(',')); }

Texts names_of(const Field& field) {
  if (field.value.form == Form::positional) return {field.name};
  const std::string name = "--" + key_of(field);
  const std::size_t comma = field.name.find(',');
  return comma == std::string::npos ? Texts{name} : Texts{field.name.substr(comma + 1), name};
}

std::vector<FieldGroup> groups_with_help(const OptionTable& table) {
  std::vector<FieldGroup> groups = table.groups;
  for (FieldGroup& group : groups) {
    if (group.name.empty()) group.name = group.fields.front().value.form == Form::positional ? "Arguments" : "Options";
  }
  static bool unused = false;
  const Field help{"help,-h", flag(unused), "Print this help and exit"};
  if (groups.empty() || groups.back().name != "Options") groups.push_back({"Help", {}});
  groups.back().fields.push_back(help);
  return groups;
}

namespace {

std::vector<const Field*> fields_of(const OptionTable& table) {
  std::vector<const Field*> fields;
  for (const FieldGroup& group : table.groups) {
    for (const Field& field : group.fields) fields.push_back(&field);
  }
  return fields;
}

std::string help_command(const OptionTable& table) { return table.program + " " + table.command + " --help"; }

void add(CLI::App& app, const Field& field) {
  const std::string option = (field.value.form == Form::positional ? "" : "--") + field.name;
  const auto read = [name = "--" + key_of(field), &field](const Texts& texts) {
    try {
      field.value.read(field.value.form == Form::list ? split_list(texts) : texts);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  };
  const auto read_one = [read](const std::string& value) { read({value}); };
  const auto read_none = [read] { read({}); };
  switch (field.value.form) {
    case Form::one:
      app.add_option_function<std::string>(option, read_one)->type_name(field.value.type);
      break;
    case Form::list:
      app.add_option_function<Texts>(option, read)->type_name(field.value.type);
      break;
    case Form::flag:
      app.add_flag_callback(option, read_none);
      break;
    case Form::positional:
      app.add_option_function<Texts>(option, field.value.read)->expected(1, field.value.max);
  }
}

// `table` must outlive the app.
void define(CLI::App& app, const OptionTable& table) {
  for (const Field* field : fields_of(table)) add(app, *field);
  for (const Field* field : fields_of(table)) {
    if (!field->excludes.empty()) app.get_option("--" + key_of(*field))->excludes("--" + field->excludes);
  }
}

// The option of the table for what other HPLs take; empty: unknown.
std::string option_for(const OptionTable& table, const std::string& argument) {
  static const std::map<std::string, std::string> keys{{"-N", "n"},    {"--NB", "nb"},   {"-NB", "nb"},
                                                       {"-P", "grid"}, {"-Q", "grid"},   {"-p", "grid"},
                                                       {"-q", "grid"}, {"-f", "hpl-dat"}};
  const auto known = keys.find(argument);
  const std::string key = known != keys.end() ? known->second : argument.ends_with(".dat") ? "hpl-dat" : "";
  for (const Field* field : fields_of(table)) {
    if (key_of(*field) == key) return "--" + key + " " + field->value.type;
  }
  return {};
}

// An argument that no option takes.
[[noreturn]] void refuse_argument(const OptionTable& table, const std::string& argument) {
  const std::string option = option_for(table, argument.substr(0, argument.find('=')));
  if (!option.empty()) {
    throw InputError("argument " + in_quotes(argument) + " is not expected; use " + option + " (see " +
                     help_command(table) + ")");
  }
  if (!argument.starts_with("-")) {
    throw InputError("argument " + in_quotes(argument) + " is not expected; options begin with -- (see " +
                     help_command(table) + ")");
  }
  Texts names{"--help"};
  for (const Field* field : fields_of(table)) {
    if (field->value.form != Form::positional) names.push_back("--" + key_of(*field));
  }
  const std::string name = argument.substr(0, argument.find('='));
  throw InputError("unknown option " + in_quotes(name) + did_you_mean(name, names) + "; see " + help_command(table));
}

// An option without a value, or with several where it takes one.
[[noreturn]] void refuse_count(const CLI::App& app, const OptionTable& table, const std::string& error) {
  for (const Field* field : fields_of(table)) {
    if (field->value.form != Form::one) continue;
    const std::string name = "--" + key_of(*field);
    const std::size_t count = app.get_option(name)->count();
    if (count > 1)
      throw InputError(name + " is given " + std::to_string(count) + " times; it takes one value: give it once");
  }
  throw InputError(error.substr(0, error.find(':')) + ": a value is missing; see " + help_command(table));
}

// The field that a key of a TOML file names.
const Field& field_of(const OptionTable& table, const std::string& key) {
  Texts keys;
  for (const Field* field : fields_of(table)) {
    if (field->value.form == Form::positional || key_of(*field) == config_name) continue;
    if (key_of(*field) == key) return *field;
    keys.push_back(key_of(*field));
  }
  throw InputError("unknown key " + in_quotes(key) + did_you_mean(key, keys) + "; the keys are the options of " +
                   help_command(table));
}

// Whether the setting sets the field: a flag that is false does not.
bool apply(const Setting& setting, const Field& field) {
  const std::string setting_text = setting.key + " = " + setting.text;
  const bool is_flag = field.value.form == Form::flag;
  if (is_flag != setting.is_boolean) {
    throw InputError(setting_text + ": " + (is_flag ? "true or false" : "a value") + " is expected");
  }
  if (is_flag && setting.values.front() == "false") return false;
  if (setting.values.empty())
    throw InputError(setting.key + " = []: the list is empty; at least one value is expected");
  if (setting.values.size() > 1 && field.value.form != Form::list) {
    throw InputError(setting_text + ": one value is expected, not a list");
  }
  if (setting.values == Texts{""}) throw InputError(setting_text + ": the value is empty");
  try {
    field.value.read(field.value.form == Form::list ? split_list(setting.values) : setting.values);
  } catch (const InputError& error) {
    throw InputError(setting_text + ": " + error.what());
  }
  return true;
}

}  // namespace

std::set<std::string> parse_arguments(const Texts& arguments, const OptionTable& table) {
  CLI::App app;
  define(app, table);
  app.allow_extras();
  Texts reversed(arguments.rbegin(), arguments.rend());  // as CLI11 expects
  const auto has_log_level = [](const Field* field) { return key_of(*field) == log_level_name; };
  if (std::ranges::any_of(fields_of(table), has_log_level)) {
    std::ranges::replace(reversed, "--verbose", std::string("--") + log_level_name + "=debug");
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    refuse_count(app, table, error.what());
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string(error.what()) + "; see " + help_command(table));
  }
  if (const Texts extras = app.remaining(); !extras.empty()) refuse_argument(table, extras.front());
  std::set<std::string> given;
  for (const Field* field : fields_of(table)) {
    const std::string option = (field->value.form == Form::positional ? "" : "--") + key_of(*field);
    if (app.get_option(option)->count() > 0) given.insert(key_of(*field));
  }
  return given;
}

std::set<std::string> read_config_file(const std::string& path, TextFiles& files, const OptionTable& table) {
  std::set<std::string> keys;
  for (const Setting& setting : settings_of(path, files)) {
    try {
      const Field& field = field_of(table, setting.key);
      if (!apply(setting, field)) continue;
      if (keys.contains(field.excludes)) {
        throw InputError(setting.key + " = true excludes " + field.excludes + " = true");
      }
    } catch (const InputError& error) {
      throw InputError(path + ":" + std::to_string(setting.line) + ": " + error.what());
    }
    keys.insert(setting.key);
  }
  return keys;
}

nlohmann::json to_json(const OptionTable& table) {
  json options;
  for (const Field* field : fields_of(table)) {
    if (field->value.form == Form::positional || key_of(*field) == config_name) continue;
    options[key_of(*field)] = field->value.json();
  }
  return options;
}

}  // namespace glinpack::app
