// Sums and products of doubles with what rounding leaves of them: high + low is exact (Knuth; Dekker; as collected by
// Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005). Not where something overflows, nor,
// of products, where the low part would be below the smallest denormal.
#pragma once

#include <cmath>

namespace glinpack {

struct DoublePair {
  double high = 0;
  double low = 0;
};

inline DoublePair two_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

inline DoublePair two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

}  // namespace glinpack
