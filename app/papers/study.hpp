// A study as a table (docs/papers/README.md): problems of some sizes, the variants that solve them, the reference among
// them, and the checks. run_study() times, checks, prints and records all studies alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/papers/mode.hpp"

namespace glinpack::app {

/// A way to solve a problem. A step throws NoResult if there is no result.
struct Variant {
  std::string name;                                      // "multi-pass"
  std::string settings = {};                             // what distinguishes it further: "2x2, pass 1"
  nlohmann::json parameters = nlohmann::json::object();  // of its record
  bool is_reference = false;                             // on the host: others are compared with it
  double flops = 0;                                      // 0: those of the problem
  /// Allocates and compiles. On several ranks, all throw if one throws. The steps are destroyed before the next
  /// variant's are made.
  std::function<Steps(ModeRun& run)> make = {};
  /// Adds the check of a result, and what else is known of it, to the record; not called if the record failed.
  std::function<void(ModeRecord& record)> check = {};
  /// Why the device cannot hold the problem, with limit and remedy; empty if no reason is known.
  std::function<std::string(const DeviceDescription& device)> refusal = {};
};

/// A problem of one size. To describe it takes no memory; fill() does.
struct Problem {
  Index n = 0;            // the abscissa of fits
  std::string size = {};  // as printed: "33x21x18"; empty: n
  std::string what = {};  // for messages: "a product of size 257"
  Precision precision = Precision::single;
  nlohmann::json parameters = nlohmann::json::object();  // of its records
  double flops = 0;                                      // 0: unknown
  double bytes = 0;                                      // of host memory
  double device_bytes = 0;                               // with software OpenGL also in host memory
  bool names_device_first = false;                       // a limit of the device before one of the memory
  /// Makes the numbers of the problem, in place of those of the one before.
  std::function<void()> fill = {};
  /// In the order of measurement, the reference first.
  std::function<std::vector<Variant>(const ModeMachine& machine)> variants = {};
  /// After the last variant.
  std::function<void(ModeRun& run)> end = {};
};

struct Study {
  std::vector<Problem> problems = {};
  /// The degree of the polynomial in N that --fit fits, as in the papers; empty: times are not printed.
  std::optional<int> fit_degree = 3;
  bool needs_device = true;
  std::vector<std::string> notes = {};           // for the report's head
  std::function<void(ModeRun& run)> begin = {};  // measures what does not depend on the size
  std::function<void(ModeRun& run)> end = {};    // prints the study's own tables
  /// The matrix that --output writes: the result of the last variant. It is not written if that failed.
  std::function<std::optional<DenseMatrix>()> result = {};
  std::function<bool()> passed = {};  // false: a check outside the records failed
};

/// Returns the exit code: 0, or 1 if a check failed. `make` reads the files of --input. Throws InputError before any
/// work for errors that the user can correct, std::runtime_error for others. With a session, collective, and the same
/// on every rank.
int run_study(const std::function<Study()>& make, const std::string& name, const ModeOptions& options,
              nlohmann::json configuration, const Invocation& invocation, const MpiSession* session = nullptr);
template <class Options>
int run_study(Study (*make)(const Options&), Options options, OptionTable (*table)(Options&),
              const Invocation& invocation) {
  const OptionTable fields = table(options);
  return run_study([&] { return make(options); }, fields.command, options, to_json(fields), invocation);
}

}  // namespace glinpack::app
