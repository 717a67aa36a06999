// The ratio of two measured quantities, with a confidence interval.
#pragma once

#include <cstdint>
#include <span>

#include "backend/measuring.hpp"

namespace glinpack::app {

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

}  // namespace glinpack::app
