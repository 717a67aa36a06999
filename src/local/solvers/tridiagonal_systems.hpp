// Tridiagonal systems in host memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "local/matrix_view.hpp"

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

/// Where elimination divides by 0; both counted from 0.
struct ZeroPivot {
  Index system = 0;
  Index equation = 0;
  friend bool operator==(const ZeroPivot&, const ZeroPivot&) = default;
};

/// Systems that elimination without pivoting solves well: random elements of (-0.5, 0.5] beside the diagonal and at the
/// right, a diagonal of either sign, larger by 0.5 at least than what stands beside it. From HPL's sequence, so that
/// they are the same everywhere.
template <class Real>
TridiagonalSystems<Real> random_tridiagonal_systems(Index count, Index n, std::uint64_t seed);

/// What || A || || A^-1 || of such a system is at most, the norms being row sums: 3 times 1 / 0.5.
inline constexpr double random_tridiagonal_condition = 6;

/// The largest of all systems' || A x - b || / (eps (|| A || || x || + || b ||)), the norms being maxima, computed in
/// double precision: HPL's residual with Real's eps, without its factor N, since a row has three elements. Not finite
/// where x is not. `x` as right.
template <class Real>
double largest_tridiagonal_residual(const TridiagonalSystems<Real>& systems, std::span<const Real> x);

}  // namespace glinpack::solvers
