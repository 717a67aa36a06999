// What all studies share (study.hpp): the options that derive from ModeOptions, and a run, which measures, prints,
// and writes the report and the files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/options/plu_options.hpp"
#include "app/papers/records.hpp"
#include "app/program/command.hpp"
#include "app/program/outputs.hpp"
#include "app/record/progress.hpp"

namespace glinpack {
class MpiSession;
}

namespace glinpack::app {

// ---- Options

constexpr const char* papers_name = "glinpack-papers";

struct ModeOptions {
  // the problem
  std::vector<Index> n{256};
  std::uint64_t seed = 1;
  std::string input;                        // empty: random numbers
  std::string input_b;                      // of modes with a second matrix
  std::string output;                       // empty: not written
  Precision precision = Precision::single;  // of modes that have both
  Texts notes;                              // for the report's head

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
  bool force = false;

  std::string config;
};

// Fields refer to `options`, which must outlive them.

/// --n and --seed.
Field size_field(ModeOptions& options);
Field seed_field(ModeOptions& options);
Field precision_field(ModeOptions& options, const std::string& help);
/// In double precision, only `doubles` remain of all variants, `all` by number, and a note says so: the others draw
/// into single-precision textures. Throws InputError if one of those is named.
void leave_out_drawing(ModeOptions& options, Texts& variants, std::size_t all, const Texts& doubles);
Field input_b_field(ModeOptions& options, const std::string& help, const std::string& default_text);
/// size_field(), seed_field(), --input and --output.
std::vector<Field> problem_fields(ModeOptions& options, const std::string& input_help, const std::string& output_help);
/// --variant: the device's `variants`, and `host`, the reference computation.
Field variant_field(Texts& option, Texts variants, const std::string& host, const std::string& default_text = "");
/// The table of a mode: its own groups, then those that all modes share. Without times: no repetitions or fit.
OptionTable mode_table(ModeOptions& options, const std::string& mode, const std::string& description,
                       const std::string& examples, std::vector<FieldGroup> groups, bool with_times = true);

/// Parses a list of names without duplicates; "all" means all of `names`. Throws InputError.
Texts parse_names(const Texts& values, const Texts& names);
/// Like parse_names(), for enumerators by name or alias.
template <class Kind, std::size_t count>
std::vector<Kind> parse_kinds(const Texts& values, const std::array<Kind, count>& kinds) {
  std::vector<Kind> chosen;
  for (const std::string& name : parse_names(values, all_names_of(kinds))) {
    const Kind kind = kind_named(name, kinds);
    if (std::ranges::find(chosen, kind) == chosen.end()) chosen.push_back(kind);
  }
  return chosen;
}
/// The enumerators among `names`, in the order of `names`. Other names, such as the host's, are skipped.
template <class Kind, std::size_t count>
std::vector<Kind> kinds_among(const Texts& names, const std::array<Kind, count>& kinds) {
  std::vector<Kind> found;
  for (const std::string& name : names) {
    for (const Kind kind : kinds) {
      if (name_of(kind) == name) found.push_back(kind);
    }
  }
  return found;
}

/// A list; [] in JSON if it is empty.
FieldValue list_value(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print);
/// A list that parse_names() or parse_kinds() reads.
FieldValue names_value(Texts& option, Texts names);
template <class Kind, std::size_t count>
FieldValue kinds_value(std::vector<Kind>& option, const std::array<Kind, count>& kinds) {
  return list_value(
      some_of(all_names_of(kinds), {"all"}), [&option, &kinds](const Texts& t) { option = parse_kinds(t, kinds); },
      [&option] { return names_of(option); });
}
/// The value of an optional; the word auto resets it.
FieldValue or_auto(FieldValue value, std::function<void()> reset);

/// Throws InputError: two options that exclude each other.
[[noreturn]] void refuse_both(const std::string& one, const std::string& other);
/// Throws InputError if --input and --n are both given, or --input-b without --input.
template <class Options>
void check_sources(const Parsed<Options>& parsed) {
  const ModeOptions& o = parsed.options;
  if (!o.input.empty() && parsed.given("n")) refuse_both("--n", "--input " + o.input);
  if (o.input.empty() && !o.input_b.empty()) throw InputError("--input-b " + o.input_b + ": give A, too, by --input");
}

// ---- Run

/// A run of a mode: measures, prints one line per record, writes the files at the end. On several ranks, all functions
/// but measure() and time() are collective, and rank 0 prints and writes.
class ModeRun {
 public:
  /// Checks that the output files can be written, without writing them. `configuration`: every option of the mode with
  /// its value; `session`: of a mode that runs on all ranks, else null. Throws InputError.
  ModeRun(std::string mode, const ModeOptions& options, nlohmann::json configuration, const Invocation& invocation,
          const MpiSession* session);

  /// Opens --device, else the first hardware device, else software OpenGL with a note. Sets OpenBLAS's threads. The
  /// ranks of a host open successive devices, cyclically. Throws InputError if there is no such device, or no device.
  void open_machine(bool needs_device, std::vector<std::string> notes);
  const ModeMachine& machine() const { return machine_; }
  solvers::Device& device() const { return *machine_.device; }

  /// Prints the report's head.
  void begin(bool with_table_of_times);

  /// Calls once() --warm-up times, then --repeat times, and reads the stages of each from the clock. `label`: the name
  /// for the progress display; `flops` of one call, 0 if unknown.
  MeasuredStages measure(solvers::StageClock& clock, const std::string& label, double flops,
                         const std::function<void()>& once);
  /// The same for a record. If once() throws NoResult, the record fails, and its other
  /// repetitions are left out.
  void time(ModeRecord& record, solvers::StageClock& clock, const std::function<void()>& once);

  /// Prints the record's line. Add the rival of a size before the records to be compared with it.
  void add(ModeRecord record);
  /// Stores a record without printing a line.
  void keep(ModeRecord record) { records_.push_back(std::move(record)); }
  const std::vector<ModeRecord>& records() const { return records_; }

  /// Prints text into the report, for a mode's own tables.
  void print(const std::string& text);
  /// Sets a mode-specific value in the JSON; docs/solver.schema.json must have the key.
  void add_to_json(const std::string& key, nlohmann::json value) { more_[key] = std::move(value); }
  /// Replaces the default --csv content.
  void replace_csv(std::string text) { csv_ = std::move(text); }

  /// Prints fits of this degree, if any, and writes the files. Returns true if all records passed.
  bool finish(std::optional<int> fit_degree, const std::optional<DenseMatrix>& result);

  /// Calls `work` on all ranks. If it throws on one, every rank throws.
  void on_all_ranks(const std::function<void()>& work) const;

 private:
  /// Calls `work`; on several ranks, on rank 0 alone. Every rank returns its result, or throws its exception.
  template <class Work>
  auto on_root(const Work& work) const;
  void write_files(const std::vector<SeriesFit>& fits, const std::optional<DenseMatrix>& result);

  std::string mode_;
  ModeOptions options_;
  nlohmann::json configuration_;
  Texts command_line_;
  const MpiSession* session_;
  OutputPaths outputs_;
  Progress progress_;
  ModeMachine machine_;
  std::unique_ptr<ReportStream> report_;
  std::vector<ModeRecord> records_;  // on rank 0
  std::string csv_;                  // empty: one line per record
  nlohmann::json more_ = nlohmann::json::object();
};

}  // namespace glinpack::app
