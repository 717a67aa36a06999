// Times against sizes, as the papers compare devices: by the coefficients of a polynomial, not by the best point
// (Brodtkorb 2008, section 5).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/modes/mode_record.hpp"

namespace glinpack::app {

struct FitPoint {
  double n = 0;
  double seconds = 0;  // more than 0
};

/// t(n) = a + b n + c n^2 + ... up to some degree.
struct PolynomialFit {
  std::vector<double> coefficients;   // a, b, c, ...: seconds per n^k
  double mean_relative_error = 0;     // root of the mean square of (t(n) - t) / t
  double largest_relative_error = 0;  // of |t(n) - t| / t

  double dominant() const { return coefficients.back(); }
  double at(double n) const;
};

/// Weighted least squares: minimises the sum of ((t(n_i) - t_i) / t_i)^2, so that a small size counts as much as a
/// large one (the paper does not say which weights it used). By LAPACK's dgelsd. Needs more points than degree; throws
/// std::invalid_argument.
PolynomialFit fit_polynomial(std::span<const FitPoint> points, int degree);

/// The fit of a series of records, and of the rival's, in the computation alone.
struct SeriesFit {
  std::string series;
  std::string settings;
  bool is_rival = false;
  PolynomialFit fit;
  /// The rival's dominant coefficient over this one's; none where one of them is not positive.
  std::optional<double> speedup = {};
};
/// Of every series that has results for enough sizes. Compared with the rival's of the same settings, or, where there
/// is none, with the first.
std::vector<SeriesFit> fit_series(std::span<const ModeRecord> records, int degree);

/// Throws InputError where --fit is asked for and there are too few different sizes: more than coefficients are needed,
/// or the fit says nothing of its error.
void check_fit(bool fit, const std::vector<Index>& sizes, int degree);

}  // namespace glinpack::app
