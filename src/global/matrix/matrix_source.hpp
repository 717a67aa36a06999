// The matrix of a run: a formula or a file. A source produces any element at any time, so that the residual is computed
// from the original matrix while only the factors are stored. A formula needs no communication, and is the same for
// every grid and block size. Indices count from 0; the right-hand side b is column n of the n x (n+1) matrix [A | b].
//
//   hpl     HPL's own, A and b, in (-0.5, 0.5] (base/hpl_generator.hpp; HPL_pdmatgen.c, HPL_pdrand.c)
//   others  matrix_formulas.hpp. b is uniform in [-1, 1): for small Wilkinson matrices, b = A 1 would be integers, and
//           elimination would have no roundoff that growth could amplify. The seed is that of the random elements,
//           including b
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/matrix_product.hpp"
#include "base/matrix_view.hpp"
#include "matrix/distribution.hpp"
#include "matrix/matrix_formulas.hpp"

namespace glinpack {

class MatrixSource {
 public:
  virtual ~MatrixSource() = default;
  /// Local rows [first, first + to.rows) of [A | b], all local columns of the rank at `at`, in double precision.
  /// Thread-safe. to.columns == distribution.local_columns(at).
  virtual void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
                    RowMajorView<double> to) const = 0;
  /// From which a device makes this rank's part of A; none for matrices that it cannot make.
  virtual std::optional<MatrixElements> elements(const Distribution&, GridPosition) const { return std::nullopt; }
  /// b in a row; only of sources with elements().
  virtual double right_hand_side(GlobalIndex) const { return 0; }
};

/// The matrix [A | b] of order n. Throws std::invalid_argument for `file`.
std::unique_ptr<MatrixSource> make_source(MatrixKind kind, Index n, std::uint64_t seed);

/// A of these elements, b uniform in [-1, 1).
std::unique_ptr<MatrixSource> make_formula_source(MatrixElement element, Index n, std::uint64_t seed);

/// HPL's matrix [A | b] of order n (HPL_pdmatgen.c, HPL_pdrand.c); seed 100 is HPL's own.
std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed = 100);

/// This rank's part of a matrix: local rows x local columns of A, row-major, and local rows of b.
std::unique_ptr<MatrixSource> make_stored_source(std::vector<double> local_a, std::vector<double> local_b);

}  // namespace glinpack
