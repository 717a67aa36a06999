// HPL's quotient, by which every residual is judged.
#pragma once

#include <cmath>
#include <limits>

namespace glinpack {

/// Norms of a system A x = b and of its residual.
struct SystemNorms {
  double residual = 0;
  double a = 0;
  double x = 0;
  double b = 0;
};

/// ||A x - b|| / (eps (||A|| ||x|| + ||b||) n) (HPL_pdtest.c). The norms are scaled by powers of two, since ||A|| ||x||
/// may exceed the largest double. Infinite if a norm is not finite, and if the quotient of a nonzero residual is zero:
/// rounding leaves no residual so small.
inline double scaled_residual(const SystemNorms& norms, double epsilon, double n) {
  for (const double norm : {norms.residual, norms.a, norms.x, norms.b}) {
    if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
  }
  if (norms.residual == 0) return 0;
  double residual = norms.residual, scale = norms.b;
  if (norms.a > 0 && norms.x > 0) {
    const int of_a = std::ilogb(norms.a), of_x = std::ilogb(norms.x);
    residual = std::scalbn(residual, -of_a - of_x);
    scale = std::scalbn(norms.a, -of_a) * std::scalbn(norms.x, -of_x) + std::scalbn(norms.b, -of_a - of_x);
  }
  const double quotient = residual / (epsilon * scale * n);
  return quotient > 0 ? quotient : std::numeric_limits<double>::infinity();
}

}  // namespace glinpack
