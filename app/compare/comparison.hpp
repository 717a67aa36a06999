// Compares two result files run by run: matches runs with equal parameters and decides which one is faster.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/compare/ratio.hpp"
#include "app/results/plu_results.hpp"
#include "app/results/result_file.hpp"

namespace glinpack::app {

/// All repetitions of one run.
struct Measurement {
  Parameters parameters;
  std::string quantity;             // "GFLOPS", "GB/s", "s" ...
  bool more_is_better = true;       // false for times
  std::vector<double> values;       // one per repetition that passed or was not checked
  std::optional<Measured> summary;  // replaces `values` if the file only has a summary
  int failed = 0;                   // repetitions that failed their check

  /// Median, least and most; empty if no repetition passed.
  std::optional<Measured> spread() const;
};

/// One measurement for each combination of parameters in the file, without the `ignored` names. Throws InputError if
/// the file is invalid, or if the remaining parameters do not distinguish its runs.
std::vector<Measurement> measurements_of(const ResultFile& file, const std::set<std::string>& ignored = {});

enum class Finding { faster, slower, alike, unknown, no_result };
/// "b is faster", "b is slower", "no difference beyond the spread", "too few repetitions to tell", "no result".
std::string text_of(Finding finding);
/// The median, the number of repetitions in brackets, and FAILED if one failed; `none` if nothing was measured.
std::string measured_text(const Measurement& measurement, std::string_view none);

struct ComparedPair {
  Measurement a, b;
  std::optional<RatioSpread> speed;  // of b to a: above 1 is faster, for times, too; empty if either has no result
  Finding finding = Finding::no_result;
};

struct Comparison {
  double confidence = 0;
  std::vector<ComparedPair> pairs;  // in the order of a
  std::vector<Measurement> only_a, only_b;
};

/// Both files must be of one kind, and no traces. `confidence`: between 0 and 1, for intervals and findings.
Comparison compare(const ResultFile& a, const ResultFile& b, const std::set<std::string>& ignored, double confidence);

}  // namespace glinpack::app
