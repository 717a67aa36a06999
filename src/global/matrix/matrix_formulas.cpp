#include "matrix/matrix_formulas.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/matrix_product.hpp"

namespace glinpack {

namespace {

using std::numbers::pi;

constexpr Index log2_growth_of_wilkinson = 30;
constexpr Index log2_condition_of_kahan = 30;
constexpr double angle_of_kahan = 1.2;  // Kahan's own, for small n
constexpr double log2_range_of_graded = 20;

double real(Index value) { return static_cast<double>(value); }

/// i / (n-1): 0 in the first row or column, 1 in the last.
double place(Index i, Index n) { return real(i) / real(std::max<Index>(1, n - 1)); }

std::uint64_t number(Index n, Index i, Index j) {
  return static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(n + 1) + static_cast<std::uint64_t>(j);
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }  // in [0, 1)

/// Box and Muller, A note on the generation of random normal deviates, Ann. Math. Stat. 29, 1958.
double normal(Index n, std::uint64_t seed, Index i, Index j) {
  constexpr std::uint64_t other_stream = 0x5851f42d4c957f2d;
  const double radius = 1 - unit(splitmix64(seed, number(n, i, j)));  // in (0, 1]
  const double angle = unit(splitmix64(seed ^ other_stream, number(n, i, j)));
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * pi * angle);
}

// 1 on the diagonal and in the last column, -h below the diagonal, 0 elsewhere. Partial pivoting interchanges nothing,
// and the last column of U is (1+h)^i. With h = 1 that is Wilkinson's worst case (Error analysis of direct methods of
// matrix inversion, J. ACM 8, 1961), 2^(n-1), which overflows in single precision from n = 129 on and leaves no digit
// long before. Hence h = 1 up to n = 31 and 2^(30/(n-1)) - 1 beyond (gfpp with c = h: Higham and Higham, Large growth
// factors in Gaussian elimination with pivoting, SIAM J. Matrix Anal. Appl. 10, 1989): growth 2^min(n-1, 30). Double
// precision keeps about 7 digits then, single none.
MatrixElement wilkinson(Index n) {
  const double below =
      n - 1 > log2_growth_of_wilkinson ? 1 - std::exp2(real(log2_growth_of_wilkinson) / real(n - 1)) : -1;
  return [n, below](Index i, Index j) { return i == j || j == n - 1 ? 1 : i > j ? below : 0; };
}

// diag(1, s, s^2, ...) times the unit upper triangle with -c above the diagonal, c^2 + s^2 = 1 (Kahan, Numerical linear
// algebra, Canadian Math. Bull. 9, 1966). No pivot is small, but A^-1 has an element c (1+c)^(n-2) / s^(n-1). The angle
// depends on n, so that ((1+c) / s)^(n-1) is 2^30 at most.
MatrixElement kahan(Index n) {
  const double steepest = std::atanh(std::cos(angle_of_kahan));
  const double rate =
      std::min(steepest, real(log2_condition_of_kahan) * std::numbers::ln2 / real(std::max<Index>(1, n - 1)));
  const double c = std::tanh(rate), log_of_s = -std::log(std::cosh(rate));
  return [c, log_of_s](Index i, Index j) { return i > j ? 0 : std::exp(real(i) * log_of_s) * (i == j ? 1 : -c); };
}

// In Hilbert's own matrix, only the first few singular values are above roundoff, for any order. With the added
// diagonal all eigenvalues are between 2^-10 and pi + 2^-10 (Hilbert's inequality), and the condition is below 3300,
// which suits every precision. Symmetric and positive definite: needs no pivoting.
double hilbert(Index i, Index j) { return 1 / real(i + j + 1) + (i == j ? 0x1p-10 : 0); }

double orthogonal(Index n, Index i, Index j) {
  const Index phase = (i + 1) * (j + 1) % (2 * (n + 1));  // exact, unlike a large argument's sine
  return std::sqrt(2 / real(n + 1)) * std::sin(pi * real(phase) / real(n + 1));
}

}  // namespace

MatrixElement matrix_element(MatrixKind kind, Index n, std::uint64_t seed) {
  switch (kind) {
    case MatrixKind::uniform:
      return [n, seed](Index i, Index j) { return uniform_element(n, seed, i, j); };
    case MatrixKind::normal:
      return [n, seed](Index i, Index j) { return normal(n, seed, i, j); };
    case MatrixKind::dominant:
      return [n, seed](Index i, Index j) { return i == j ? real(n) : uniform_element(n, seed, i, j); };
    case MatrixKind::mxp:
      return MxpElement(n);
    case MatrixKind::wilkinson:
      return wilkinson(n);
    case MatrixKind::hilbert:
      return hilbert;
    case MatrixKind::kahan:
      return kahan(n);
    case MatrixKind::graded:
      return [n, seed](Index i, Index j) {
        return std::exp2(-log2_range_of_graded * (place(i, n) + place(j, n))) * uniform_element(n, seed, i, j);
      };
    case MatrixKind::orthogonal:
      return [n](Index i, Index j) { return orthogonal(n, i, j); };
    case MatrixKind::singular:
      return [n, seed](Index i, Index j) { return j == n / 2 ? 0 : uniform_element(n, seed, i, j); };
    case MatrixKind::hpl:
    case MatrixKind::file:
      break;
  }
  throw std::invalid_argument("'" + std::string(name_of(kind)) + "' has no formula of its elements");
}

std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double uniform_element(Index n, std::uint64_t seed, Index i, Index j) {
  return static_cast<double>(splitmix64(seed, number(n, i, j)) >> 11U) * 0x1p-52 - 1;
}

}  // namespace glinpack
