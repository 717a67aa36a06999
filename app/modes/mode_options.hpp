// Options that all standalone modes share (docs/papers/README.md). A mode's options derive from ModeOptions.
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

  // measurement
  int repeat = 3;
  int warm_up = 1;
  bool fit = false;

  // machine
  std::optional<int> device;   // an index of `glinpack devices`; unset: the first that is hardware, else software
  std::optional<int> threads;  // of the host; unset: the cores that this process may use
  std::string shader_dir;

  // results; empty names: not written
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
/// size_field(), --input and --output.
std::vector<Field> problem_fields(ModeOptions& options, const std::string& input_help, const std::string& output_help);
/// --variant: the device's `variants`, and `host`, the reference computation.
Field variant_field(Texts& option, Texts variants, const std::string& host, const std::string& default_text = "");
/// A mode's own groups, then the groups that all modes share. `with_times` false: no repetitions, fit or trace.
std::vector<FieldGroup> mode_groups(ModeOptions& options, std::vector<FieldGroup> own, bool with_times = true);
/// Examples, then the units and exit codes that modes share. `more_codes`: further codes, such as ", 5 ended by
/// --watchdog".
std::string mode_footer(const std::string& examples, const std::string& more_codes = "");

/// Parses a list of names without duplicates; "all" means all of `names`. Throws InputError.
Texts parse_names(const Texts& values, const Texts& names);
/// Like parse_names(), for enumerators by name_of().
template <class Kind, std::size_t count>
std::vector<Kind> parse_kinds(const Texts& values, const std::array<Kind, count>& kinds) {
  const Texts names = names_of(kinds);
  std::vector<Kind> chosen;
  for (const std::string& name : parse_names(values, names)) chosen.push_back(kinds[choose(name, names)]);
  return chosen;
}

/// A list; [] in JSON if it is empty.
FieldValue list_value(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print);
/// A list that parse_names() or parse_kinds() reads.
FieldValue names_value(Texts& option, Texts names);
template <class Kind, std::size_t count>
FieldValue kinds_value(std::vector<Kind>& option, const std::array<Kind, count>& kinds) {
  return list_value(
      some_of(names_of(kinds), {"all"}), [&option, &kinds](const Texts& t) { option = parse_kinds(t, kinds); },
      [&option] { return names_of(option); });
}
/// The value of an optional; the word auto resets it.
FieldValue or_auto(FieldValue value, std::function<void()> reset);

/// Throws InputError if both --input and --n are given, since the file determines the size.
template <class Options>
void check_one_source(const Parsed<Options>& parsed) {
  if (parsed.options.input.empty() || !parsed.given("n")) return;
  throw InputError("--n and --input " + parsed.options.input + " are both given: leave one of them out");
}

}  // namespace glinpack::app
