// The kinds of --matrix.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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
inline constexpr std::array matrix_formulas{MatrixKind::hpl,        MatrixKind::uniform, MatrixKind::normal,
                                            MatrixKind::dominant,   MatrixKind::mxp,     MatrixKind::wilkinson,
                                            MatrixKind::hilbert,    MatrixKind::kahan,   MatrixKind::graded,
                                            MatrixKind::orthogonal, MatrixKind::singular};
inline constexpr std::array all_matrix_kinds{MatrixKind::hpl,        MatrixKind::uniform,  MatrixKind::normal,
                                             MatrixKind::dominant,   MatrixKind::mxp,      MatrixKind::wilkinson,
                                             MatrixKind::hilbert,    MatrixKind::kahan,    MatrixKind::graded,
                                             MatrixKind::orthogonal, MatrixKind::singular, MatrixKind::file};

constexpr std::string_view name_of(MatrixKind kind) {
  constexpr std::array<std::string_view, all_matrix_kinds.size()> names{"hpl",    "uniform",    "normal",   "dominant",
                                                                        "mxp",    "wilkinson",  "hilbert",  "kahan",
                                                                        "graded", "orthogonal", "singular", "file"};
  return names[static_cast<std::size_t>(kind)];
}

/// The end of a report's sentence "The matrix A is ...".
constexpr std::string_view description_of(MatrixKind kind) {
  constexpr std::array<std::string_view, all_matrix_kinds.size()> descriptions{
      "HPL's own, randomly generated for each test.",
      "random, uniform in [-1, 1); so is the right-hand side.",
      "random, normal with mean 0 and deviation 1; the right-hand side is random.",
      "random and strictly diagonally dominant; the right-hand side is random.",
      "HPL-MxP's, a product L U that needs no pivoting; the right-hand side is random.",
      "Wilkinson's, of growth 2^min(N-1,30); the right-hand side is random.",
      "Hilbert's plus 2^-10 on the diagonal; the right-hand side is random.",
      "Kahan's, upper triangular, of condition 2^30 with no small pivot; the right-hand side is random.",
      "random, with rows and columns that decrease to 2^-20 each; the right-hand side is random.",
      "orthogonal, of sines; the right-hand side is random.",
      "random with a zero column, number N/2 from 0.",
      "read from a file; the right-hand side is A times ones."};
  return descriptions[static_cast<std::size_t>(kind)];
}

}  // namespace glinpack
