// The options that all standalone modes share (docs/modes.md). A mode's options derive from ModeOptions and add their
// own.
#pragma once

#include <array>
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

// Fields refer to `options`, which must outlive them.

/// --n and --seed.
Field size_field(ModeOptions& options);
Field seed_field(ModeOptions& options);
/// Both, --input and --output.
std::vector<Field> problem_fields(ModeOptions& options, const std::string& input_help, const std::string& output_help);
/// --variant: `variants` of a device and `host`, the computation on the host that they are compared with.
Field variant_field(Texts& option, Texts variants, const std::string& host, const std::string& default_text = "");
/// A mode's own groups, then those that all modes share. Without times: no repetitions, fit or trace.
std::vector<FieldGroup> mode_groups(ModeOptions& options, std::vector<FieldGroup> own, bool with_times = true);
/// Examples, then the units and exit codes that modes share; `more_codes`: of one mode, such as ", 5 ended by
/// --watchdog".
std::string mode_footer(const std::string& examples, const std::string& more_codes = "");

/// A list of names, or "all" for every one of `names`; each at most once. Throws InputError.
Texts parse_names(const Texts& values, const Texts& names);
/// The same for enumerators, by name_of().
template <class Kind, std::size_t count>
std::vector<Kind> parse_kinds(const Texts& values, const std::array<Kind, count>& kinds) {
  const Texts names = names_of(kinds);
  std::vector<Kind> chosen;
  for (const std::string& name : parse_names(values, names)) chosen.push_back(kinds[choose(name, names)]);
  return chosen;
}

/// A list that is [] in JSON if it is empty.
FieldValue list_value(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print);
/// What parse_names() and parse_kinds() read.
FieldValue names_value(Texts& option, Texts names);
template <class Kind, std::size_t count>
FieldValue kinds_value(std::vector<Kind>& option, const std::array<Kind, count>& kinds) {
  return list_value(
      some_of(names_of(kinds), {"all"}), [&option, &kinds](const Texts& t) { option = parse_kinds(t, kinds); },
      [&option] { return names_of(option); });
}
/// The value of an optional, or the word auto, which resets it.
FieldValue or_auto(FieldValue value, std::function<void()> reset);

/// --input gives the size: throws InputError if --n is given, too.
template <class Options>
void check_one_source(const Parsed<Options>& parsed) {
  if (parsed.options.input.empty() || !parsed.given("n")) return;
  throw InputError("--n and --input " + parsed.options.input + " are both given: leave one of them out");
}

}  // namespace glinpack::app
