// Where the matrix comes from: HPL's generator or a file. A source can produce any element at any time, so that the
// residual is computed from the matrix as it was and nothing but the factors is stored.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "global/distribution.hpp"
#include "local/hpl_product.hpp"
#include "local/matrix_view.hpp"

namespace glinpack {

class MatrixSource {
 public:
  virtual ~MatrixSource() = default;
  /// Order N of A.
  virtual Index order() const = 0;
  /// Local rows [first, first + to.rows) of [A | b], all local columns of the rank at `at`, in double precision.
  /// Thread-safe. to.columns == distribution.local_columns(at).
  virtual void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
                    RowMajorView<double> to) const = 0;
  /// Of HPL's own matrix, what all local elements of [A | b] of that rank are made of; none of any other.
  virtual std::optional<HplElements> hpl_elements(const Distribution&, GridPosition) const { return std::nullopt; }
};

/// HPL's matrix [A | b] of order n (HPL_pdmatgen.c, HPL_pdrand.c); seed 100 is HPL's own.
std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed = 100);

/// A dense matrix read from a file, its local part held in memory: rows of A (local rows x local columns of A without
/// b), b = A 1 given for the local rows. Both row-major.
std::unique_ptr<MatrixSource> make_stored_source(Index n, std::vector<double> local_a, std::vector<double> local_b);

}  // namespace glinpack
