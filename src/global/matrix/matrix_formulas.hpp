// The kinds of --matrix, and those whose element (i, j) is a formula of i, j, n and the seed: the same on every grid,
// without communication. Indices count from 0. Random ones: each element is hashed from its number i (n+1) + j by
// SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). HPL takes the elements
// column by column from one linear congruential sequence; here no affine map leads from one element to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"

namespace glinpack {

enum class MatrixKind : std::uint8_t {
  hpl,
  uniform,
  normal,
  dominant,
  mxp,
  wilkinson,
  hilbert,
  kahan,
  graded,
  orthogonal,
  singular,
  file,
};
/// All but `file`.
inline constexpr auto matrix_formulas = values_up_to<MatrixKind::singular>;
inline constexpr auto all_matrix_kinds = values_up_to<MatrixKind::file>;

constexpr std::string_view name_of(MatrixKind kind) {
  return text_by_value(kind, "hpl", "uniform", "normal", "dominant", "mxp", "wilkinson", "hilbert", "kahan", "graded",
                       "orthogonal", "singular", "file");
}

/// The end of a report's sentence "The matrix A is ...".
constexpr std::string_view description_of(MatrixKind kind) {
  return text_by_value(
      kind, "HPL's own, randomly generated for each test.", "random, uniform in [-1, 1); so is the right-hand side.",
      "random, normal with mean 0 and deviation 1; the right-hand side is random.",
      "random and strictly diagonally dominant; the right-hand side is random.",
      "HPL-MxP's, a product L U that needs no pivoting; the right-hand side is random.",
      "Wilkinson's, of growth 2^min(N-1,30); the right-hand side is random.",
      "Hilbert's plus 2^-10 on the diagonal; the right-hand side is random.",
      "Kahan's, upper triangular, of condition 2^30 with no small pivot; the right-hand side is random.",
      "random, with rows and columns that decrease to 2^-20 each; the right-hand side is random.",
      "orthogonal, of sines; the right-hand side is random.", "random with a zero column, number N/2 from 0.",
      "read from a file; the right-hand side is A times ones.");
}

using MatrixElement = std::function<double(Index i, Index j)>;

/// Any kind but hpl and file. Throws std::invalid_argument for these.
MatrixElement matrix_element(MatrixKind kind, Index n, std::uint64_t seed);

/// Number `number`, counted from 0, of SplitMix64 with this seed.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number);

/// Uniform in [-1, 1): the upper 53 bits of number i (n+1) + j.
double uniform_element(Index n, std::uint64_t seed, Index i, Index j);

}  // namespace glinpack
