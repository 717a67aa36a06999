// Fits a polynomial to times over sizes. The papers compare devices by its coefficients, not by the best point
// (Brodtkorb 2008, section 5).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/modes/mode_record.hpp"

namespace glinpack::app {

struct FitPoint {
  double n = 0;
  double seconds = 0;  // greater than 0
};

/// t(n) = a + b n + c n^2 + ... up to a given degree.
struct PolynomialFit {
  std::vector<double> coefficients;   // a, b, c, ...: seconds per n^k
  double mean_relative_error = 0;     // root mean square of (t(n) - t) / t
  double largest_relative_error = 0;  // of |t(n) - t| / t

  double dominant() const { return coefficients.back(); }
  double at(double n) const;
};

/// Weighted least squares: minimises the sum of ((t(n_i) - t_i) / t_i)^2, so that small and large sizes count alike.
/// The paper does not give its weights. Uses LAPACK's dgelsd. Needs more points than the degree; throws
/// std::invalid_argument.
PolynomialFit fit_polynomial(std::span<const FitPoint> points, int degree);

/// The fits of a series of records and of its rival, for the computation without transfers.
struct SeriesFit {
  std::string series;
  std::string settings;
  bool is_rival = false;
  PolynomialFit fit;
  /// The rival's dominant coefficient divided by this one's; empty unless both are positive.
  std::optional<double> speedup = {};
};
/// One fit for every series with enough sizes. The rival has the same settings, or else is the first rival.
std::vector<SeriesFit> fit_series(std::span<const ModeRecord> records, int degree);

/// Throws InputError if --fit is given with too few distinct sizes. There must be more sizes than coefficients, else
/// the residual is zero.
void check_fit(bool fit, const std::vector<Index>& sizes, int degree);

}  // namespace glinpack::app
