#include "app/option_set.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

// Names of options as configuration files write them: without dashes in front. Of what stands without a name, as files
// do, its name in --help.
std::string key_of(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : option.get_lnames().front();
}

bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

// The help text of an option with its default, broken into lines that fit beside the names.
std::string help_text(const std::string& help, const std::string& default_text) {
  constexpr std::size_t width = 84;
  std::istringstream words(default_text.empty() ? help : help + " [" + default_text + "]");
  std::string text;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= width;
    if (column > 0) text += fits ? ' ' : '\n';
    column = (column > 0 && fits ? column + 1 : 0) + word.size();
    text += word;
  }
  return text;
}

// An argument that no option takes.
[[noreturn]] void refuse_argument(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("-")) {
    throw InputError("argument " + in_quotes(argument) + " is not expected; options begin with -- (see " +
                     app.get_name() + " --help)");
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) names.push_back("--" + key_of(*option));
  }
  const std::string name = argument.substr(0, argument.find('='));
  throw InputError("unknown option " + in_quotes(name) + did_you_mean(name, names) + "; see " + app.get_name() +
                   " --help");
}

// "--n, --nb, --grid": the options that take more than one value.
std::string names_of_lists(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    if (is_list(*option) && !option->get_positional()) names += (names.empty() ? "--" : ", --") + key_of(*option);
  }
  return names;
}

std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) names.insert(key_of(*option));
  }
  return names;
}

// The option that a setting stands for.
const CLI::Option& option_of(const CLI::App& app, const Setting& setting) {
  const CLI::Option* option = app.get_option_no_throw("--" + setting.key);
  if (option != nullptr && setting.key != "help" && setting.key != "config") return *option;
  std::vector<std::string> keys;
  for (const CLI::Option* known : app.get_options()) {
    if (key_of(*known) != "help" && key_of(*known) != "config") keys.push_back(key_of(*known));
  }
  throw InputError("unknown key " + in_quotes(setting.key) + did_you_mean(setting.key, keys) +
                   "; the keys are the options of " + app.get_name() + " --help");
}

}  // namespace

void describe(CLI::App& app, const std::string& name, const std::string& description, const std::string& footer) {
  app.name(name);
  app.description(description);
  app.footer(footer);
  app.get_formatter()->column_width(34);
}

void begin_group(CLI::App& app, const std::string& name) { app.option_defaults()->group(name); }

void add(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
         const std::string& help, std::function<void(const std::string&)> set) {
  const auto guarded = [name, set = std::move(set)](const std::string& value) {
    try {
      set(value);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  };
  app.add_option_function<std::string>(name, guarded, help_text(help, default_text))->type_name(type);
}

void add_list(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
              const std::string& help, std::function<void(const std::vector<std::string>&)> set) {
  const auto guarded = [name, set = std::move(set)](const std::vector<std::string>& values) {
    try {
      set(split_list(values));
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  };
  app.add_option_function<std::vector<std::string>>(name, guarded, help_text(help, default_text))->type_name(type);
}

void add_positional(CLI::App& app, const std::string& name, const std::string& help, int most,
                    std::vector<std::string>& into) {
  app.add_option(name, into, help_text(help, ""))->type_name("...")->expected(1, most);
}

void add_text(CLI::App& app, const std::string& name, const std::string& type, const std::string& help,
              std::string& into) {
  add(app, name, type, "", help, [&into](const std::string& text) {
    if (text.empty()) throw InputError("the name is empty");
    into = text;
  });
}

void add_flag(CLI::App& app, const std::string& name, const std::string& help, std::function<void()> set) {
  app.add_flag_callback(name, std::move(set), help_text(help, ""));
}

void exclude(CLI::App& app, const std::string& name, const std::string& other) {
  app.get_option(name)->excludes(other);
}

std::set<std::string> parse_arguments(std::vector<std::string> arguments, const DefineOptions& define) {
  CLI::App app;
  define(app);
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ArgumentMismatch& error) {
    throw InputError(std::string(error.what()) + " (an option takes one value, the lists " + names_of_lists(app) +
                     " more)");
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string(error.what()) + "; see " + app.get_name() + " --help");
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) refuse_argument(app, extras.front());
  return given_options(app);
}

void apply_setting(const Setting& setting, const DefineOptions& define) {
  CLI::App app;
  define(app);
  const CLI::Option& option = option_of(app, setting);
  const bool is_flag = option.get_items_expected_max() == 0;
  if (is_flag != setting.is_boolean) {
    throw InputError(setting.key + " = " + setting.text + ": " + (is_flag ? "true or false" : "a value") +
                     " is expected");
  }
  if (is_flag && setting.values.front() == "false") return;
  if (setting.values.empty())
    throw InputError(setting.key + " = []: the list is empty; at least one value is expected");
  if (setting.values.size() > 1 && !is_list(option)) {
    throw InputError(setting.key + " = " + setting.text + ": one value is expected, not a list");
  }
  std::string argument = "--" + setting.key;
  if (!is_flag) {
    argument += "=" + setting.values.front();
    for (std::size_t i = 1; i < setting.values.size(); ++i) argument += "," + setting.values[i];
    if (argument.back() == '=') throw InputError(setting.key + " = " + setting.text + ": the value is empty");
  }
  try {
    parse_arguments({argument}, define);
  } catch (const InputError& error) {
    throw InputError(setting.key + " = " + setting.text + ": " +
                     std::string(error.what()).substr(setting.key.size() + 4));  // without "--key: "
  }
}

void apply_configuration(const nlohmann::json& configuration, const DefineOptions& define) {
  for (const auto& [key, value] : configuration.items()) {
    if (value.is_null()) continue;
    Setting setting{.key = key, .text = value.dump(), .is_boolean = value.is_boolean()};
    const auto text = [](const nlohmann::json& item) {
      return item.is_string() ? item.get<std::string>() : item.dump();
    };
    if (value.is_array()) {
      for (const nlohmann::json& item : value) setting.values.push_back(text(item));
    } else {
      setting.values.push_back(text(value));
    }
    apply_setting(setting, define);
  }
}

std::set<std::string> apply_config_file(const std::string& path, const DefineOptions& define) {
  std::set<std::string> keys;
  for (const Setting& setting : read_config_file(path)) {
    try {
      apply_setting(setting, define);
    } catch (const InputError& error) {
      throw InputError(path + ":" + std::to_string(setting.line) + ": " + error.what());
    }
    keys.insert(setting.key);
  }
  return keys;
}

std::string help_of(const DefineOptions& define) {
  CLI::App app;
  define(app);
  return app.help();
}

}  // namespace glinpack::app
