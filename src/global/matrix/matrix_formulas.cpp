#include "matrix/matrix_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace glinpack {

namespace {

using std::numbers::pi;

constexpr double diagonal_of_hilbert = 0x1p-10;
constexpr Index log2_growth_of_wilkinson = 30;
/// A random matrix of few values is nonsingular for sure, in practice, from this order on.
constexpr Index certainly_nonsingular = 64;
/// From this order on, pivots of Hilbert's matrix and its like are roundoff in either precision.
constexpr Index hilbert_is_roundoff = 5;

double real(Index value) { return static_cast<double>(value); }

std::uint64_t number(Index n, Index i, Index j) {
  return static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(n + 1) + static_cast<std::uint64_t>(j);
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }  // in [0, 1)

// formula(i, j, n), or formula(i, j, n, seed), as a base's element.
template <class Formula>
auto of(Formula formula) {
  return [formula](Index n, std::uint64_t) -> MatrixElement {
    return [formula, n](Index i, Index j) { return static_cast<double>(formula(i, j, n)); };
  };
}
template <class Formula>
auto seeded(Formula formula) {
  return [formula](Index n, std::uint64_t seed) -> MatrixElement {
    return [formula, n, seed](Index i, Index j) { return static_cast<double>(formula(i, j, n, seed)); };
  };
}

double hilbert(Index i, Index j) { return 1 / real(i + j + 1); }

MatrixElement wilkinson(Index n, std::uint64_t) {
  const double below =
      n - 1 > log2_growth_of_wilkinson ? 1 - std::exp2(real(log2_growth_of_wilkinson) / real(n - 1)) : -1;
  return [n, below](Index i, Index j) { return i == j || j == n - 1 ? 1 : i > j ? below : 0; };
}

MatrixElement ij(Index n, std::uint64_t) {
  const double scale = 1 / std::pow(10, std::ceil(std::log10(real(n))));
  return [scale](Index i, Index j) { return real(i) + real(j) * scale; };
}

double chebspec(Index i, Index j, Index n) {
  const auto x = [n](Index k) { return std::cos(pi * real(k + 1) / real(n)); };
  if (i == j) return j + 1 == n ? (2 * real(n) * real(n) + 1) / -6 : -0.5 * x(i) / (1 - x(i) * x(i));
  const double c_i = i == n - 1 ? 2 : 1, c_j = j == n - 1 ? 2 : 1;
  return ((i + j) % 2 == 0 ? 1 : -1) * c_i / (c_j * (x(j) - x(i)));
}

double orthog(Index i, Index j, Index n) {
  const Index phase = (i + 1) * (j + 1) % (2 * (n + 1));  // exact, unlike a large argument's sine
  return std::sqrt(2 / real(n + 1)) * std::sin(pi * real(phase) / real(n + 1));
}

double toeppen(Index below) {
  constexpr double band[] = {1, 10, 0, -10, 1};  // from two above the diagonal to two below
  return below >= -2 && below <= 2 ? band[below + 2] : 0;
}

/// Box and Muller, A note on the generation of random normal deviates, Ann. Math. Stat. 29, 1958.
double normal(Index n, std::uint64_t seed, Index i, Index j) {
  constexpr std::uint64_t other_stream = 0x5851f42d4c957f2d;
  const double radius = 1 - unit(splitmix64(seed, number(n, i, j)));  // in (0, 1]
  const double angle = unit(splitmix64(seed ^ other_stream, number(n, i, j)));
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * pi * angle);
}

// singular(n) -> column, in exact arithmetic and in floating-point arithmetic alike.
template <class Condition>
auto singular_if(Condition is_singular, Index column_of_n_minus_one_or) {
  return [is_singular, column_of_n_minus_one_or](Index n) {
    const Index column = column_of_n_minus_one_or < 0 ? n - 1 : column_of_n_minus_one_or;
    return is_singular(n) ? Singularity{.column = column} : Singularity{};
  };
}
auto uncertain_if(bool (*condition)(Index n)) {
  return [condition](Index n) { return Singularity{.uncertain = condition(n)}; };
}

constexpr Index last_column = -1;
bool is_roundoff(Index n) { return n >= hilbert_is_roundoff; }
bool may_be_singular(Index n) { return n < certainly_nonsingular; }
bool always(Index) { return true; }
bool from_two(Index n) { return n >= 2; }

std::vector<MatrixBase> random_bases() {
  std::vector<MatrixBase> bases{
      {"uniform",
       "random, uniform in [-1, 1); so is the right-hand side.",
       seeded([](Index i, Index j, Index n, std::uint64_t s) { return uniform_element(n, s, i, j); }),
       {}},
      {"rand",
       "random, uniform in [0, 1).",
       seeded([](Index i, Index j, Index n, std::uint64_t s) { return unit(splitmix64(s, number(n, i, j))); }),
       {}},
      {"rands",
       "random, uniform in [-1, 1).",
       seeded([](Index i, Index j, Index n, std::uint64_t s) { return uniform_element(n, s, i, j); }),
       {}},
      {"randn",
       "random, normal with mean 0 and deviation 1.",
       seeded([](Index i, Index j, Index n, std::uint64_t s) { return normal(n, s, i, j); }),
       {}},
      {"randb", "random, 0 or 1.",
       seeded([](Index i, Index j, Index n, std::uint64_t s) { return splitmix64(s, number(n, i, j)) >> 63U; }),
       uncertain_if(may_be_singular)},
      {"randr", "random, -1 or 1.", seeded([](Index i, Index j, Index n, std::uint64_t s) {
         return splitmix64(s, number(n, i, j)) >> 63U ? 1 : -1;
       }),
       uncertain_if(may_be_singular)}};
  for (MatrixBase& base : bases) base.random = true;
  return bases;
}

std::vector<MatrixBase> bases_of_pivoting() {
  return {
      // Of Hilbert's own matrix only the first few singular values are above roundoff, for any order. With the added
      // diagonal all eigenvalues are between 2^-10 and pi + 2^-10 (Hilbert's inequality), and the condition is below
      // 3300, which suits every precision. Symmetric and positive definite: needs no pivoting.
      {"hilbert",
       "Hilbert's plus 2^-10 on the diagonal; the right-hand side is random.",
       of([](Index i, Index j, Index) { return hilbert(i, j) + (i == j ? diagonal_of_hilbert : 0); }),
       {}},
      // as well conditioned, but the pivot rows are at the other end of the matrix, on other processes
      {"hilbert-reversed",
       "Hilbert's plus 2^-10 on the diagonal, rows reversed; the right-hand side is random.",
       of([](Index i, Index j, Index n) { return hilbert(n - 1 - i, j) + (n - 1 - i == j ? diagonal_of_hilbert : 0); }),
       {}},
      // 1 on the diagonal and in the last column, -h below the diagonal, 0 elsewhere. Partial pivoting interchanges
      // nothing, and the last column of U is (1+h)^i. With h = 1 that is Wilkinson's worst case (Error analysis of
      // direct methods of matrix inversion, J. ACM 8, 1961), 2^(n-1), which overflows in single precision from n = 129
      // on and leaves no digit long before. Hence h = 1 up to n = 31 and 2^(30/(n-1)) - 1 beyond (gfpp with c = h:
      // Higham and Higham, Large growth factors in Gaussian elimination with pivoting, SIAM J. Matrix Anal. Appl. 10,
      // 1989): growth 2^min(n-1, 30). Double precision keeps about 7 digits then, single none.
      {"wilkinson", "Wilkinson's, of growth 2^min(N-1,30); the right-hand side is random.", wilkinson, {}},
      {"mxp",
       "HPL-MxP's, a product L U that needs no pivoting; the right-hand side is random.",
       [](Index n, std::uint64_t) { return MxpElement(n); },
       {}},
      {"dominant",
       "random and strictly diagonally dominant; the right-hand side is random.",
       seeded(
           [](Index i, Index j, Index n, std::uint64_t s) { return i == j ? real(n) : uniform_element(n, s, i, j); }),
       {}}};
}

std::vector<MatrixBase> slate_bases() {
  return {{"zeros", "zero.", of([](Index, Index, Index) { return 0; }), singular_if(always, 0)},
          {"ones", "all ones.", of([](Index, Index, Index) { return 1; }), singular_if(from_two, 1)},
          {"identity", "the identity.", of([](Index i, Index j, Index) { return i == j; }), {}},
          {"ij", "i + j / 10^ceil(log10 N), of rank 2.", ij,
           [](Index n) { return n == 1 ? Singularity{.column = 0} : Singularity{.uncertain = n >= 3}; }},
          {"jordan",
           "one on the diagonal and above it.",
           of([](Index i, Index j, Index) { return i == j || i + 1 == j; }),
           {}},
          {"jordanT",
           "one on the diagonal and below it.",
           of([](Index i, Index j, Index) { return i == j || i == j + 1; }),
           {}},
          {"chebspec", "the Chebyshev spectral differentiation matrix.", of(chebspec), {}},
          {"circul",
           "circulant, with the first row 1 to N.",
           of([](Index i, Index j, Index n) { return (j - i + n) % n + 1; }),
           {}},
          {"fiedler", "|i - j|.", of([](Index i, Index j, Index) { return std::abs(i - j); }),
           singular_if([](Index n) { return n == 1; }, 0)},
          {"gfpp",
           "SLATE's gfpp, of growth 3^(N-1) without row interchanges.",
           of([](Index i, Index j, Index n) { return j == n - 1 ? 1
                                                     : i > j    ? -1
                                                     : i == j   ? 0.5
                                                                : 0; }),
           {}},
          {"kms",
           "Kac, Murdock and Szego's, 2^-|i - j|.",
           of([](Index i, Index j, Index) {
             return std::ldexp(1.0, -static_cast<int>(std::min<Index>(2000, std::abs(i - j))));
           }),
           {}},
          {"orthog", "orthogonal, of sines.", of(orthog), {}},
          {"riemann",
           "Riemann's: i+1 if i+2 divides j+2, else -1.",
           of([](Index i, Index j, Index) { return (j + 2) % (i + 2) == 0 ? i + 1 : -1; }),
           {}},
          {"ris",
           "Ris's, 0.5 / (N - i - j - 0.5).",
           of([](Index i, Index j, Index n) { return 0.5 / (real(n - i - j) - 0.5); }),
           {}},
          {"zielkeNS",
           "Zielke's nonsymmetric: ones below the diagonal, -1 in the corner.",
           of([](Index i, Index j, Index n) { return j < i                  ? 1
                                                     : j + 1 == n && i == 0 ? -1
                                                                            : 0; }),
           {}}};
}

std::vector<MatrixBase> gallery_bases() {
  return {
      {"minij", "min(i, j), counted from 1.", of([](Index i, Index j, Index) { return std::min(i, j) + 1; }), {}},
      {"hilb", "Hilbert's.", of([](Index i, Index j, Index) { return hilbert(i, j); }), uncertain_if(is_roundoff)},
      {"frank", "Frank's, upper Hessenberg with determinant 1.", of([](Index i, Index j, Index n) {
         return j >= i ? n - j : i == j + 1 ? n - 1 - j : 0;
       }),
       uncertain_if(is_roundoff)},
      {"lehmer",
       "Lehmer's, min(i, j) / max(i, j) counted from 1.",
       of([](Index i, Index j, Index) { return real(std::min(i, j) + 1) / real(std::max(i, j) + 1); }),
       {}},
      {"lotkin", "Lotkin's: Hilbert's with a first row of ones.",
       of([](Index i, Index j, Index) { return i == 0 ? 1 : hilbert(i, j); }), uncertain_if(is_roundoff)},
      {"redheff", "Redheffer's: 1 if j = 1 or i divides j, counted from 1.",
       of([](Index i, Index j, Index) { return j == 0 || (j + 1) % (i + 1) == 0; }),
       uncertain_if(from_two)},  // the determinant is Mertens' function of n
      {"triw",
       "unit upper triangular with -1 above the diagonal.",
       of([](Index i, Index j, Index) { return i == j  ? 1
                                               : i < j ? -1
                                                       : 0; }),
       {}},
      {"tridiag",
       "tridiagonal, -1, 2, -1.",
       of([](Index i, Index j, Index) { return i == j                 ? 2
                                               : std::abs(i - j) == 1 ? -1
                                                                      : 0; }),
       {}},
      {"toeppen", "pentadiagonal Toeplitz, 1, -10, 0, 10, 1.",
       of([](Index i, Index j, Index) { return toeppen(i - j); }), singular_if([](Index n) { return n == 1; }, 0)},
      {"pei", "Pei's: ones, 2 on the diagonal.", of([](Index i, Index j, Index) { return i == j ? 2 : 1; }), {}},
      {"parter",
       "Parter's, 1 / (i - j + 0.5).",
       of([](Index i, Index j, Index) { return 1 / (real(i - j) + 0.5); }),
       {}},
      {"moler",
       "Moler's, min(i, j) - 2 with diagonal i, counted from 1.",
       of([](Index i, Index j, Index) { return i == j ? i + 1 : std::min(i, j) - 1; }),
       {}},
      {"cauchy", "Cauchy's, 1 / (i + j) counted from 1.",
       of([](Index i, Index j, Index) { return 1 / real(i + j + 2); }), uncertain_if(is_roundoff)},
      {"chow", "Chow's: lower Hessenberg, all ones.", of([](Index i, Index j, Index) { return j <= i + 1; }),
       singular_if(from_two, 1)},
      {"clement", "Clement's: tridiagonal with zero diagonal.", of([](Index i, Index j, Index n) {
         return j == i + 1 ? j : i == j + 1 ? n - i : 0;
       }),
       singular_if([](Index n) { return n % 2 == 1; }, last_column)},
      {"gcdmat", "gcd(i, j), counted from 1.", of([](Index i, Index j, Index) { return std::gcd(i + 1, j + 1); }), {}}};
}

}  // namespace

std::span<const MatrixBase> matrix_bases() {
  static const std::vector<MatrixBase> all = [] {
    std::vector<MatrixBase> bases;
    for (const auto& part : {random_bases(), bases_of_pivoting(), slate_bases(), gallery_bases()}) {
      bases.insert(bases.end(), part.begin(), part.end());
    }
    return bases;
  }();
  return all;
}

const MatrixBase* find_matrix_base(std::string_view name) {
  const std::span<const MatrixBase> bases = matrix_bases();
  const auto found = std::ranges::find(bases, name, &MatrixBase::name);
  return found == bases.end() ? nullptr : &*found;
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
