// The matrix of a run: a formula or a file. A source produces any element at any time, so that the residual is computed
// from the original matrix while only the factors are stored. A formula needs no communication, and is the same for
// every grid and block size. Indices count from 0; the right-hand side b is column n of the n x (n+1) matrix [A | b].
//
//   hpl        HPL's own, A and b, in (-0.5, 0.5] (backend/hpl_generator.hpp; HPL_pdmatgen.c, HPL_pdrand.c)
//   uniform    a_ij uniform in [-1, 1): number i (n+1) + j of SplitMix64. HPL takes the elements column by column from
//              one linear congruential sequence. Here each element is hashed from its own number, so that no affine
//              map leads from one element to the next
//   hilbert    1/(i+j+1), plus 2^-10 on the diagonal. Of Hilbert's own matrix only the first few singular values are
//              above roundoff, for any order. With the added diagonal all eigenvalues are between 2^-10 and pi + 2^-10
//              (Hilbert's inequality: the norm is below pi), and the condition is below 3300, which suits every
//              precision. Symmetric and positive definite: needs no pivoting
//   hilbert-reversed  the same with its rows in reverse order: as well conditioned, but the pivot rows are at the other
//              end of the matrix, on other processes
//   wilkinson  1 on the diagonal and in the last column, -h below the diagonal, 0 elsewhere. Partial pivoting
//              interchanges nothing, and the last column of U is (1+h)^i. With h = 1 that is Wilkinson's worst case
//              (Error analysis of direct methods of matrix inversion, J. ACM 8, 1961), 2^(n-1), which overflows in
//              single precision from n = 129 on and leaves no digit long before. Hence h = 1 up to n = 31 and
//              2^(30/(n-1)) - 1 beyond (gfpp with c = h: Higham and Higham, Large growth factors in Gaussian
//              elimination with pivoting, SIAM J. Matrix Anal. Appl. 10, 1989): growth 2^min(n-1, 30). Double
//              precision keeps about 7 digits then, single none
//   dominant   off the diagonal as uniform; n on it: strictly dominant by rows and by columns. Needs no pivoting
//
// b is uniform in [-1, 1) for all except hpl: for small Wilkinson matrices, b = A 1 would be integers, and elimination
// would have no roundoff that growth could amplify. The seed is that of the random elements, including b.
//
// SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/hpl_generator.hpp"
#include "backend/matrix_view.hpp"
#include "matrix/distribution.hpp"
#include "mpi/process_grid.hpp"

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
  /// The jumps of HPL's generator to all local elements of [A | b]; none if the matrix is not HPL's.
  virtual std::optional<HplElements> hpl_elements(const Distribution&, GridPosition) const { return std::nullopt; }
};

enum class MatrixKind { hpl, uniform, hilbert, hilbert_reversed, wilkinson, dominant, file };

/// All kinds except `file`.
inline constexpr std::array matrix_formulas{MatrixKind::hpl,       MatrixKind::uniform,
                                            MatrixKind::hilbert,   MatrixKind::hilbert_reversed,
                                            MatrixKind::wilkinson, MatrixKind::dominant};

std::string_view name_of(MatrixKind kind);

/// The end of a report's sentence "The matrix A is ...".
std::string_view description_of(MatrixKind kind);

/// The matrix [A | b] of order n. Throws std::invalid_argument for `file`.
std::unique_ptr<MatrixSource> make_source(MatrixKind kind, Index n, std::uint64_t seed);

/// HPL's matrix [A | b] of order n (HPL_pdmatgen.c, HPL_pdrand.c); seed 100 is HPL's own.
std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed = 100);

/// Distributes a dense matrix over the grid. Collective over it. The root, rank (0, 0), passes the N x N matrix,
/// row-major; the others nullptr. The right-hand side is b = A 1, so that x = 1 is known. Every rank throws
/// std::runtime_error if any has no memory for its part.
std::unique_ptr<MatrixSource> scatter_matrix(const ProcessGrid& grid, const Distribution& distribution,
                                             const std::vector<double>* dense_on_root);

/// Number `number`, counted from 0, of SplitMix64 with this seed.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number);

}  // namespace glinpack
