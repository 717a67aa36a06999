// The check of a solution: HPL's scaled residual, from the matrix as its source gives it again.
#pragma once

#include <span>
#include <vector>

#include "global/matrix_source.hpp"
#include "global/process_grid.hpp"
#include "global/run.hpp"
#include "local/precision.hpp"

namespace glinpack {

/// HPL's test (HPL_pdtest.c), computed in double precision from [A | b] rounded to Real, which is what was factorised.
/// x: this rank's part, one element a local column of A. Collective over the grid; the same result on every rank. A NaN
/// in x or in the residual is in the result.
template <class Real>
Residual compute_residual(const Distribution& distribution, const ProcessGrid& grid, const MatrixSource& source,
                          const std::vector<double>& x, int threads);

/// The two parts of it: a rank's sums over its part of [A | b], and what they come to over the grid.
struct LocalSums {
  std::vector<double> residual;     // b - A x, local rows
  std::vector<double> row_sums;     // of |a_ij|, local rows
  std::vector<double> column_sums;  // of |a_ij|, local columns
  double largest_b = 0;
  double largest_a = 0;

  LocalSums(Index rows, Index columns)
      : residual(static_cast<std::size_t>(rows)),
        row_sums(static_cast<std::size_t>(rows)),
        column_sums(static_cast<std::size_t>(columns)) {}
};
template <class Real>
LocalSums local_sums(const Distribution& distribution, GridPosition at, const MatrixSource& source,
                     const std::vector<double>& x, int threads);
/// Collective over the grid. Leaves in sums.residual the whole sums over the process row.
Residual combined(LocalSums& sums, const Distribution& distribution, const ProcessGrid& grid, Precision precision,
                  const std::vector<double>& x);

/// This rank's columns' part of beta b - A x, its local rows, in double precision: a sum over the process row is
/// missing. A is made again row by row, by so many threads, and never stored.
std::vector<double> local_residual(const Distribution& distribution, GridPosition at, const MatrixSource& source,
                                   std::span<const double> x, double beta, int threads);
/// The sums over all ranks of a communicator, to all of them. Collective over it.
void add_over(MPI_Comm communicator, std::span<double> values);

/// The same test for another x, whose residual vector is known: `known` has the norms of A and b. Collective over the
/// grid.
Residual test_again(const Residual& known, const Distribution& distribution, const ProcessGrid& grid,
                    std::span<const double> vector, std::span<const double> x);

}  // namespace glinpack
