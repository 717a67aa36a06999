// Compares two result files run by run: matches runs with equal parameters and decides which one is faster.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/record/network_record.hpp"
#include "app/record/result_file.hpp"
#include "app/record/run_record.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and values, in display order

/// The names of parameters that have several values, or are missing in some runs.
std::set<std::string> differing(const std::vector<Parameters>& all);

/// "openblas, n 4096, nb 128": the parameters with names among `names`; with `wanted` false, all others.
std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted = true);

/// The parameters of a run; those that name it best come first.
Parameters parameters_of(const RunRecord& run);
Parameters parameters_of(const NetworkRun& run);

// The ratio of two measured quantities, with a confidence interval.

struct RatioSpread {
  double ratio = 1;  // the median of b / a over all pairs of repetitions (Hodges and Lehmann's estimate)
  double least = 1, most = 1;
  double confidence = 0;  // that [least, most] holds the true ratio; 0 if there is a single pair

  /// True if the confidence is at least `wanted`, within rounding.
  bool reaches(double wanted) const;
};

/// The ratio of the values `b` to the values `a`. All values are greater than 0; each span has at least one. The
/// interval is bounded by two of the ordered ratios of all pairs. It is the narrowest that holds the true ratio with at
/// least `confidence`, and the widest if there are too few repetitions. It assumes that repetitions are independent and
/// that the distributions of a and b differ by a factor (M. Hollander, D. Wolfe, Nonparametric Statistical Methods,
/// section 4.3, applied to logarithms).
RatioSpread ratio_spread(std::span<const double> a, std::span<const double> b, double confidence);

/// The widest interval, for repetitions of which only median, least and most are known.
RatioSpread ratio_spread(const Measured& a, const Measured& b);

/// The distribution function of Mann and Whitney's U: the probability that U is at most `u` for samples of `a` and `b`
/// values from one distribution. Exact if a b <= 2500, else the normal approximation.
double mann_whitney_at_most(std::int64_t u, std::int64_t a, std::int64_t b);

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
