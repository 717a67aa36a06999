// The kinds of --matrix: the name of a base and its modifiers, as SLATE spells them (slate/matgen:
// generate_matrix_ge.cc, generate_matrix_utils.cc), such as svd_geo_cond1e8_ufl or rands_zerocol0.5.
//
//   base           hpl, file, or one of matrix_bases() (matrix_formulas.hpp); dlatb4_1 to dlatb4_11: the types of
//                  LAPACK's test of general matrices (TESTING/LIN/dlatb4.f)
//   distribution   of the singular values or eigenvalues, for diag, svd, poev (spd) and heev (syev): one of
//                  all_spectra (spectrum.hpp)
//   _condX         their condition, X >= 1; 1 / sqrt(epsilon) unless given (an option of its own in SLATE)
//   _ufl, _ofl     [A | b] scaled near underflow or overflow, by dlatb4's 1/4 safe minimum / epsilon or its inverse: at
//                  SLATE's scale, the safe minimum, rounding errors underflow
//   _small, _large [A | b] scaled by the square root of the safe minimum or its inverse
//   _dominant      n added to the diagonal; random bases only
//   _zerocolN      column N is zero; with a decimal point, column N (n - 1), 0 <= N <= 1
//   _zerohalf      columns from n/2 on are zero (dlatb4's type 7)
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/matrix_view.hpp"

namespace glinpack {

class MatrixKind {
 public:
  static const MatrixKind hpl, uniform, hilbert, hilbert_reversed, wilkinson, dominant, mxp, file;

  /// HPL's.
  constexpr MatrixKind() : MatrixKind("hpl") {}
  /// Throws std::invalid_argument that says what is wrong with the name.
  static MatrixKind parse(const std::string& name);

  constexpr std::string_view name() const { return name_; }
  friend bool operator==(const MatrixKind&, const MatrixKind&) = default;

 private:
  explicit constexpr MatrixKind(std::string_view name) : name_(name) {}

  std::string_view name_;  // of the program's lifetime
};
inline constexpr MatrixKind MatrixKind::hpl{"hpl"};
inline constexpr MatrixKind MatrixKind::uniform{"uniform"};
inline constexpr MatrixKind MatrixKind::hilbert{"hilbert"};
inline constexpr MatrixKind MatrixKind::hilbert_reversed{"hilbert-reversed"};
inline constexpr MatrixKind MatrixKind::wilkinson{"wilkinson"};
inline constexpr MatrixKind MatrixKind::dominant{"dominant"};
inline constexpr MatrixKind MatrixKind::mxp{"mxp"};
inline constexpr MatrixKind MatrixKind::file{"file"};

constexpr std::string_view name_of(const MatrixKind& kind) { return kind.name(); }

/// The kinds to study pivoting with.
inline constexpr std::array matrix_formulas{MatrixKind::hpl,       MatrixKind::uniform,
                                            MatrixKind::hilbert,   MatrixKind::hilbert_reversed,
                                            MatrixKind::wilkinson, MatrixKind::dominant};

/// The end of a report's sentence "The matrix A is ...".
std::string description_of(const MatrixKind& kind);

/// The parts of a name.
struct MatrixSpec {
  enum class Scale { one, ufl, ofl, small, large };

  std::string base;
  std::string spectrum{};             // empty: the base has none
  std::optional<double> condition{};  // of the spectrum; empty: 1 / sqrt(epsilon)
  double share_of_epsilon = 0;        // dlatb4's types 8 and 9: the condition is this / epsilon, or its square root
  bool root_of_condition = false;
  Scale scale = Scale::one;
  bool dominant = false;
  bool zero_half = false;
  std::optional<double> zero_column{};
  bool zero_column_is_share = false;  // of n - 1

  /// The first zero column of order n. Throws std::invalid_argument if it is not below n.
  std::optional<Index> first_zero_column(Index n) const;
};

/// Throws std::invalid_argument as MatrixKind::parse() does.
MatrixSpec spec_of(const std::string& name);

}  // namespace glinpack
