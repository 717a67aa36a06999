// Products with a part of a matrix on a device, which generates the elements for each product and never stores them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/hpl_generator.hpp"
#include "base/matrix_view.hpp"

namespace glinpack {

/// L U with L unit lower triangular, -alpha below the diagonal, and U unit upper triangular, -beta above it (Fasi and
/// Higham, Matrices with tunable infinity-norm condition number and no need for pivoting in LU factorization, SIAM J.
/// Matrix Anal. Appl. 42, 2021). HPL-MxP's rules ask for such a matrix: not symmetric, stable without pivoting, and not
/// strictly dominant. The numerators keep the condition in the infinity norm below 440 for every n. A type of its own,
/// so that loops that make it again in each refinement hold its code.
class MxpElement {
 public:
  explicit MxpElement(Index n) : alpha_(4 / static_cast<double>(n + 4)), beta_(2 / static_cast<double>(n + 4)) {}
  double operator()(Index i, Index j) const {
    return alpha_ * beta_ * static_cast<double>(std::min(i, j)) + (i == j ? 1 : i > j ? -alpha_ : -beta_);
  }
  double alpha() const { return alpha_; }
  double beta() const { return beta_; }

 private:
  double alpha_;
  double beta_;
};

/// A part of HPL's matrix: element (i, j) is hpl_value(rows[i](columns[j])).
struct HplElements {
  std::vector<HplJump> rows;
  std::vector<std::uint64_t> columns;
};
/// A part of the matrix of order n with MxpElement: element (i, j) is that of row rows[i] and column columns[j].
struct MxpElements {
  Index n = 0;
  std::vector<std::int32_t> rows, columns;
};
using MatrixElements = std::variant<HplElements, MxpElements>;

/// A: rows x columns, from Backend::make_matrix_product. Sums are in double precision and bitwise reproducible. Results
/// are valid when a function returns; the device's time is in Phase::refinement.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  /// y <- A x.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  /// Sums of |a_ij| over each row, or each column. Returns the largest |a_ij|, 0 for an empty matrix.
  virtual double sum_rows(std::span<double> sums) = 0;
  virtual double sum_columns(std::span<double> sums) = 0;
};

}  // namespace glinpack
