#include <gtest/gtest.h>

#include <cmath>

#include "matrix/matrix_source.hpp"
#include "solve/host_factors.hpp"

namespace glinpack {
namespace {

using Vector = std::vector<double>;

Vector product(const Vector& a, const Vector& x, bool transposed) {
  const std::size_t n = x.size();
  Vector y(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) y[i] += (transposed ? a[j * n + i] : a[i * n + j]) * x[j];
  }
  return y;
}

TEST(NormEstimate, IsAtMostTheNormAndAtLeastAThirdOfIt) {
  for (const Index n : {1, 2, 3, 25}) {
    for (const char* kind : {"rands", "randn", "hilb", "triw", "svd_arith", "identity", "zeros", "wilkinson"}) {
      const auto source = make_source(MatrixKind::parse(kind), n, 7);
      Vector augmented(static_cast<std::size_t>(n * (n + 1))), a;
      source->fill(Distribution(n, n, {1, 1}), {}, LocalIndex(0), {augmented.data(), n, n + 1, n + 1});
      double norm = 0;
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) sum += std::fabs(augmented[static_cast<std::size_t>(i * (n + 1) + j)]);
        norm = std::max(norm, sum);
      }
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) a.push_back(augmented[static_cast<std::size_t>(i * (n + 1) + j)]);
      }
      const double estimate = estimate_norm_one(
          n, [&](const Vector& x) { return product(a, x, false); },
          [&](const Vector& x) { return product(a, x, true); });
      EXPECT_LE(estimate, norm * (1 + 1e-14)) << kind << " " << n;
      EXPECT_GE(estimate, norm / 3) << kind << " " << n;
    }
  }
}

}  // namespace
}  // namespace glinpack
