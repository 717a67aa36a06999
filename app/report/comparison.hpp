// Compares two result files run by run: matches runs with equal parameters and decides which one is faster.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/record/result_file.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and values, in display order

/// The names of parameters that have several values, or are missing in some runs.
std::set<std::string> differing(const std::vector<Parameters>& all);

/// "openblas, n 4096, nb 128": the parameters with names among `names`; with `wanted` false, all others.
std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted = true);

/// The probability that samples of `a` and `b` values from one distribution are as far apart as `beaten` pairs, of all
/// a b, say, or farther: Mann and Whitney's test, two-sided. Exact if a b <= 2500, else the normal approximation.
double chance_of(double beaten, std::int64_t a, std::int64_t b);

/// All repetitions of one run.
struct Measurement {
  Parameters parameters = {};
  std::string quantity = {};             // "GFLOPS", "GB/s", "s" ...
  bool more_is_better = true;            // false for times
  std::vector<double> values = {};       // one per repetition that passed or was not checked
  std::optional<Measured> summary = {};  // replaces `values` if the file only has a summary
  int failed = 0;                        // repetitions that failed their check

  /// Median, least and most; empty if no repetition passed.
  std::optional<Measured> spread() const;
};

/// One measurement for each combination of parameters in the file, without the `ignored` names. Throws InputError if
/// the file is invalid, or if the remaining parameters do not distinguish its runs.
std::vector<Measurement> measurements_of(const ResultFile& file, const std::set<std::string>& ignored = {});

/// The ratio of b to a: above 1 b is faster, also for times.
struct Speed {
  double ratio = 1;         // of the medians
  double min = 1, max = 1;  // of all pairs of repetitions
  double confidence = 0;    // that the order of the repetitions is not chance
  bool is_faster = false;   // b wins more pairs than it loses
};

/// Both have a result. Of summaries, repetitions are in order if the ranges do not overlap, else unknown.
Speed speed_of(const Measurement& a, const Measurement& b);

/// The median, the number of repetitions in brackets, and FAILED if one failed; `none` if nothing was measured.
std::string measured_text(const Measurement& measurement, std::string_view none);

struct ComparedPair {
  Measurement a, b;
  std::optional<Speed> speed;              // empty if either has no result
  std::string_view finding = "no result";  // or "faster", "slower", "no difference", "too few repetitions"
};

struct Comparison {
  std::vector<ComparedPair> pairs;  // in the order of a
  std::vector<Measurement> only_a, only_b;
};

/// Both files must be of one kind. `confidence`: between 0 and 1, of findings.
Comparison compare(const ResultFile& a, const ResultFile& b, const std::set<std::string>& ignored, double confidence);

}  // namespace glinpack::app
