// What the options of all subcommands have in common: how they are defined, read from a command line or a TOML file
// with the same names as keys, and handed from rank to rank as JSON. Messages name the option, the value and the
// remedy.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/input/config_file.hpp"
#include "app/input/input_error.hpp"

// Only option_set.cpp includes CLI11: it takes seconds to compile wherever it is included.
namespace CLI {
class App;
}

namespace glinpack::app {

/// What --help prints around the options: `name` is the whole command, "glinpack plu".
void describe(CLI::App& app, const std::string& name, const std::string& description, const std::string& footer);
/// The heading of --help that the options which follow stand under.
void begin_group(CLI::App& app, const std::string& name);
/// Adds an option, `set` taking its text; what `set` throws is prefixed with the option's name.
void add(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
         const std::string& help, std::function<void(const std::string&)> set);
/// The same for a list, given with commas, spaces, or both.
void add_list(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
              const std::string& help, std::function<void(const std::vector<std::string>&)> set);
/// What is given without a name, such as files: at most `most`, taken as they are. `name` is what --help calls it.
void add_positional(CLI::App& app, const std::string& name, const std::string& help, int most,
                    std::vector<std::string>& into);
/// The same for a name that may not be empty.
void add_text(CLI::App& app, const std::string& name, const std::string& type, const std::string& help,
              std::string& into);
void add_flag(CLI::App& app, const std::string& name, const std::string& help, std::function<void()> set);
/// Two options, with their dashes, of which one alone may be given.
void exclude(CLI::App& app, const std::string& name, const std::string& other);

/// Adds a subcommand's options to an empty app, whose name becomes the subcommand's ("glinpack plu").
using DefineOptions = std::function<void(CLI::App&)>;

/// Parses over what the options hold; returns the names, without dashes, of those that were given. Throws InputError.
std::set<std::string> parse_arguments(std::vector<std::string> arguments, const DefineOptions& define);
/// One key of a TOML file or of a configuration in JSON. Throws InputError.
void apply_setting(const Setting& setting, const DefineOptions& define);
/// Every entry of a configuration in JSON; null ones stay as they are.
void apply_configuration(const nlohmann::json& configuration, const DefineOptions& define);
/// Every key of a TOML file; returns them. Throws InputError, "FILE:LINE: ...".
std::set<std::string> apply_config_file(const std::string& path, const DefineOptions& define);
/// What --help prints.
std::string help_of(const DefineOptions& define);

/// Options, and which of them were given where; names without dashes.
template <class Options>
struct Parsed {
  Options options;
  std::set<std::string> on_command_line;
  std::set<std::string> in_file;
};

/// Command line over file (its option config) over default. `define`: adds options that live in its second argument.
template <class Options>
void parse_into(Parsed<Options>& parsed, const std::vector<std::string>& arguments,
                void (*define)(CLI::App&, Options&)) {
  Options from_command_line;
  parsed.on_command_line = parse_arguments(arguments, [&](CLI::App& app) { define(app, from_command_line); });
  if (from_command_line.config.empty()) {
    parsed.options = from_command_line;
    return;
  }
  const DefineOptions into_parsed = [&](CLI::App& app) { define(app, parsed.options); };
  parsed.in_file = apply_config_file(from_command_line.config, into_parsed);
  parse_arguments(arguments, into_parsed);
}

}  // namespace glinpack::app
