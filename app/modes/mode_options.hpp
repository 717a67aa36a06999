// What all standalone modes can be told (docs/modes.md). A mode's options derive from ModeOptions and add their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace glinpack::app {

struct ModeOptions {
  // the problem
  std::vector<Index> n{256};
  std::uint64_t seed = 1;
  std::string input;   // empty: random numbers
  std::string output;  // empty: not written

  // measuring
  int repeat = 3;
  int warm_up = 1;
  bool fit = false;

  // what it runs on
  std::optional<int> device;   // as `glinpack devices` counts; without: the first that is hardware, else software
  std::optional<int> threads;  // of the host; without: the cores that this process may use
  std::string shader_dir;

  // what comes out; empty names: not written
  std::string output_dir;
  std::string json;
  std::string csv;
  std::string trace;
  bool force = false;
  When progress = When::automatic;

  std::string config;
};

/// Adds the options, group by group, to an app with a mode's name. `options` must outlive it. What a mode has of its
/// own goes between: begin_group(app, "Problem") names the group of the options that follow.
/// define_mode_orders: --n alone; define_mode_sizes: what modes have that neither read nor write matrices.
void define_mode_orders(CLI::App& app, ModeOptions& options);
void define_mode_sizes(CLI::App& app, ModeOptions& options);
void define_mode_problem(CLI::App& app, ModeOptions& options, const std::string& input_help,
                         const std::string& output_help);
void define_mode_measuring(CLI::App& app, ModeOptions& options);
void define_mode_machine(CLI::App& app, ModeOptions& options);
void define_mode_output(CLI::App& app, ModeOptions& options);
/// The same but --trace: of modes that measure no times.
void define_mode_files(CLI::App& app, ModeOptions& options);
/// The units and exit codes that modes share; `more_codes`: of one mode, such as ", 5 ended by --watchdog".
std::string mode_units(const std::string& more_codes = "");
/// Name, description and examples; ends every help with units and exit codes.
void describe_mode(CLI::App& app, const std::string& name, const std::string& description, const std::string& examples,
                   const std::string& units = mode_units());

/// Every one of these options but config, by its name; unset ones null. A mode adds its own.
nlohmann::json mode_to_json(const ModeOptions& options);

/// A list of names, or "all" for every one of `choices`; each at most once. Throws InputError, naming the choices and
/// the nearest one.
std::vector<std::string> parse_names(const std::vector<std::string>& values, std::span<const std::string> choices);

/// "256" or "64,100,257", as help texts show defaults.
std::string list_text(const std::vector<Index>& values);

/// With --input the size is the file's: throws InputError where --n was given, too.
template <class Options>
void check_one_source(const Parsed<Options>& parsed) {
  if (parsed.options.input.empty()) return;
  if (!parsed.on_command_line.contains("n") && !parsed.in_file.contains("n")) return;
  throw InputError("--n and --input " + parsed.options.input + " are both given: leave one of them out");
}

}  // namespace glinpack::app
