// Precisions and what follows from them: the epsilon of the residual, and every tolerance of the tests.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include "local/matrix_view.hpp"

namespace glinpack {

/// mixed: factors in single, the solution refined in double.
enum class Precision { single, double_, mixed };

template <class Real>
inline constexpr Precision precision_of = sizeof(Real) == 4 ? Precision::single : Precision::double_;

inline constexpr std::string_view name_of(Precision precision) {
  return precision == Precision::single ? "single" : precision == Precision::double_ ? "double" : "mixed";
}

/// Bytes of an element of the factors.
inline constexpr std::size_t factor_bytes(Precision precision) {
  return precision == Precision::double_ ? sizeof(double) : sizeof(float);
}

/// Unit roundoff of the solution, HPL's eps: 2^-24 single, 2^-53 double and mixed (LAPACK dlamch('E')).
inline constexpr double epsilon_of(Precision precision) {
  return precision == Precision::single ? std::numeric_limits<float>::epsilon() / 2.0
                                        : std::numeric_limits<double>::epsilon() / 2.0;
}

/// What a computed element may differ by from the reference's, relative to the largest element in play, after sums of
/// `terms` products: c n epsilon with c = 4.
template <class Real>
constexpr double tolerance(Index terms) {
  return 4.0 * static_cast<double>(terms < 1 ? 1 : terms) * epsilon_of(precision_of<Real>);
}

}  // namespace glinpack
