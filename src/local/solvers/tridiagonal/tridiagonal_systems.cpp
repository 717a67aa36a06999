#include "solvers/tridiagonal/tridiagonal_systems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hpl_generator.hpp"
#include "base/precision.hpp"
#include "base/scaled_residual.hpp"

namespace glinpack::solvers {
namespace {

// || A x - b || / (eps (|| A || || x || + || b ||)) of the system whose equations begin at `first`.
template <class Real>
double residual_of_system(const TridiagonalSystems<Real>& systems, std::span<const Real> x, std::size_t first) {
  const auto n = static_cast<std::size_t>(systems.n);
  double norm_r = 0, norm_a = 0, norm_x = 0, norm_b = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = first + i;
    const auto value = [&](const std::vector<Real>& vector) { return static_cast<double>(vector[k]); };
    const double lower = i > 0 ? value(systems.lower) : 0.0, upper = i + 1 < n ? value(systems.upper) : 0.0;
    const double before = i > 0 ? static_cast<double>(x[k - 1]) : 0.0;
    const double after = i + 1 < n ? static_cast<double>(x[k + 1]) : 0.0, own = static_cast<double>(x[k]);
    const double r = lower * before + value(systems.diagonal) * own + upper * after - value(systems.right);
    if (!std::isfinite(r)) return std::numeric_limits<double>::infinity();
    norm_r = std::max(norm_r, std::abs(r));
    norm_a = std::max(norm_a, std::abs(lower) + std::abs(value(systems.diagonal)) + std::abs(upper));
    norm_x = std::max(norm_x, std::abs(own));
    norm_b = std::max(norm_b, std::abs(value(systems.right)));
  }
  return scaled_residual({.residual = norm_r, .a = norm_a, .x = norm_x, .b = norm_b}, epsilon_of(precision_of<Real>),
                         1);
}

}  // namespace

template <class Real>
TridiagonalSystems<Real> random_tridiagonal_systems(Index count, Index n, std::uint64_t seed) {
  TridiagonalSystems<Real> systems(count, n);
  const HplJump step = hpl_jump(1);
  std::uint64_t state = step(seed);
  const auto next = [&] {
    const double value = hpl_value(state);
    state = step(state);
    return value;
  };
  for (std::size_t k = 0; k < systems.right.size(); ++k) {
    const auto i = static_cast<Index>(k) % n;
    const double lower = next(), upper = next(), more = next();
    systems.lower[k] = i > 0 ? static_cast<Real>(lower) : Real{0};
    systems.upper[k] = i + 1 < n ? static_cast<Real>(upper) : Real{0};
    const double magnitude = std::abs(lower) + std::abs(upper) + 0.5 + std::abs(more);
    systems.diagonal[k] = static_cast<Real>(more < 0 ? -magnitude : magnitude);
    systems.right[k] = static_cast<Real>(next());
  }
  return systems;
}

template <class Real>
double largest_tridiagonal_residual(const TridiagonalSystems<Real>& systems, std::span<const Real> x) {
  double largest = 0;
  for (Index system = 0; system < systems.count; ++system) {
    largest = std::max(largest, residual_of_system(systems, x, static_cast<std::size_t>(system * systems.n)));
  }
  return largest;
}

template TridiagonalSystems<float> random_tridiagonal_systems(Index, Index, std::uint64_t);
template TridiagonalSystems<double> random_tridiagonal_systems(Index, Index, std::uint64_t);
template double largest_tridiagonal_residual(const TridiagonalSystems<float>&, std::span<const float>);
template double largest_tridiagonal_residual(const TridiagonalSystems<double>&, std::span<const double>);

}  // namespace glinpack::solvers
