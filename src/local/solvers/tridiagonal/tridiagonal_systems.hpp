// Tridiagonal systems in host memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/matrix_view.hpp"
#include "solvers/device/steps.hpp"

namespace glinpack::solvers {

/// Many systems of n equations each, one system after the other: vectors of count * n elements. Equation i of system s,
/// at k = s n + i:
///   lower[k] x_(i-1) + diagonal[k] x_i + upper[k] x_(i+1) = right[k]
/// lower of a system's first equation and upper of its last one are 0.
template <class Real>
struct TridiagonalSystems {
  Index count = 0;
  Index n = 0;
  std::vector<Real> lower;
  std::vector<Real> diagonal;
  std::vector<Real> upper;
  std::vector<Real> right;

  TridiagonalSystems() = default;
  /// All 0.
  TridiagonalSystems(Index systems, Index equations)
      : count(systems),
        n(equations),
        lower(static_cast<std::size_t>(systems * equations)),
        diagonal(lower.size()),
        upper(lower.size()),
        right(lower.size()) {}
};

/// The position at which elimination divides by 0; both indices from 0.
struct ZeroPivot {
  Index system = 0;
  Index equation = 0;
  friend bool operator==(const ZeroPivot&, const ZeroPivot&) = default;
};

class ZeroPivotError : public NoResult {
 public:
  explicit ZeroPivotError(const ZeroPivot& at)
      : NoResult("zero pivot: system " + std::to_string(at.system + 1) + ", row " + std::to_string(at.equation + 1)),
        at_(at) {}
  const ZeroPivot& at() const { return at_; }

 private:
  ZeroPivot at_;
};
/// Throws ZeroPivotError if there is a zero pivot.
inline void check_pivots(const std::optional<ZeroPivot>& zero) {
  if (zero) throw ZeroPivotError(*zero);
}

/// Diagonally dominant systems for elimination without pivoting: random off-diagonal elements and right-hand sides in
/// (-0.5, 0.5], and a diagonal of either sign that exceeds the sum of their magnitudes by at least 0.5. From HPL's
/// sequence, so that they are the same everywhere.
template <class Real>
TridiagonalSystems<Real> random_tridiagonal_systems(Index count, Index n, std::uint64_t seed);

/// The bound of || A || || A^-1 || of such a system, with row sums as norms: 3 times 1 / 0.5.
inline constexpr double random_tridiagonal_condition = 6;

/// The largest of all systems' || A x - b || / (eps (|| A || || x || + || b ||)), the norms being maxima, computed in
/// double precision: HPL's residual with Real's eps, without its factor N, since a row has three elements. Not finite
/// if x is not. `x` has the layout of `right`.
template <class Real>
double largest_tridiagonal_residual(const TridiagonalSystems<Real>& systems, std::span<const Real> x);

}  // namespace glinpack::solvers
