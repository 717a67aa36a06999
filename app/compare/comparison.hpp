// Two result files, run by run: which runs have the same parameters, and which of the two is faster.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/compare/ratio.hpp"
#include "app/results/plu_results.hpp"
#include "app/results/result_file.hpp"

namespace glinpack::app {

/// The repetitions of a run.
struct Measurement {
  Parameters parameters;
  std::string quantity;             // "GFLOPS", "GB/s", "s" ...
  bool more_is_better = true;       // false of times
  std::vector<double> values;       // of the repetitions that passed, or were not checked
  std::optional<Measured> summary;  // in place of values where the file has no more
  int failed = 0;                   // repetitions that did not pass their check

  /// Median, least, most; none where no repetition counts.
  std::optional<Measured> spread() const;
};

/// A measurement for each combination of parameters in the file, those of `ignored` names left out. Throws InputError
/// where the file is broken, or where what is left does not tell its runs apart.
std::vector<Measurement> measurements_of(const ResultFile& file, const std::set<std::string>& ignored = {});

enum class Finding { faster, slower, alike, unknown, no_result };
/// "b is faster", "b is slower", "no difference beyond the spread", "too few repetitions to tell", "no result".
std::string text_of(Finding finding);
/// The median and, in brackets, of how many repetitions; FAILED; `none` where nothing was measured.
std::string measured_text(const Measurement& measurement, std::string_view none);

struct ComparedPair {
  Measurement a, b;
  std::optional<RatioSpread> speed;  // of b to a: more is faster, of times, too; none where one has no result
  Finding finding = Finding::no_result;
};

struct Comparison {
  double confidence = 0;
  std::vector<ComparedPair> pairs;  // in the order of a
  std::vector<Measurement> only_a, only_b;
};

/// Both files must be of one kind, and no traces. `confidence`: between 0 and 1, of intervals and findings.
Comparison compare(const ResultFile& a, const ResultFile& b, const std::set<std::string>& ignored, double confidence);

}  // namespace glinpack::app
