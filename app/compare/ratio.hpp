// How many times as large one measured quantity is as another, and how sure that is.
#pragma once

#include <cstdint>
#include <span>

#include "backend/measuring.hpp"

namespace glinpack::app {

struct RatioSpread {
  double ratio = 1;  // the median of b / a over all pairs of repetitions (Hodges and Lehmann's estimate)
  double least = 1, most = 1;
  double confidence = 0;  // with which [least, most] holds the true ratio; 0 of a single pair: nothing is known

  /// Whether the confidence is at least `wanted`, but for rounding.
  bool reaches(double wanted) const;
};

/// Of the values `b` to the values `a`, all greater than 0, at least one of each. The interval is the narrowest between
/// two of the ordered ratios of all pairs that holds the true ratio with `confidence` at least, and the widest where
/// the repetitions are too few for that. It assumes nothing of the distribution but that repetitions are independent
/// and that those of a and b differ by a factor (M. Hollander, D. Wolfe, Nonparametric Statistical Methods,
/// section 4.3, of logarithms).
RatioSpread ratio_spread(std::span<const double> a, std::span<const double> b, double confidence);

/// Where only median, least and most of the repetitions are known: the widest interval.
RatioSpread ratio_spread(const Measured& a, const Measured& b);

/// The probability that of `a` and `b` values from one distribution at most `u` pairs have the smaller value from the
/// first: the distribution of Mann and Whitney's U. Exact while a b <= 2500, normal beyond.
double mann_whitney_at_most(std::int64_t u, std::int64_t a, std::int64_t b);

}  // namespace glinpack::app
