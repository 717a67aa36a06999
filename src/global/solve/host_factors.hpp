// The factors of a run in the memory of the hosts, for checks that are independent of the backend's arithmetic: A - L U
// and A^-T. All in double precision.
#pragma once

#include <functional>
#include <vector>

#include "matrix/distribution.hpp"
#include "mpi/process_grid.hpp"
#include "transport/row_exchange_plan.hpp"

namespace glinpack {

template <class Real>
class HostFactors {
 public:
  /// `local`: this rank's part, local rows x stored columns, row-major, as the factorisation leaves it: rows of L are
  /// not interchanged after their pass. Collective over the grid, whose references must outlive it. Keeps N x NB
  /// elements in addition.
  HostFactors(const Distribution& distribution, const ProcessGrid& grid, std::vector<Real> local,
              const Interchanges& interchanges);

  /// a <- a - P^T L U, with this rank's part of A, local rows x local columns of A, row-major. Panels go to all ranks.
  /// `threads` compute. Collective over the grid. after_pass() is called after every pass.
  void subtract_product(std::vector<double>& a, int threads, const std::function<void()>& after_pass) const;

  /// A^-T w, N elements, the same on every rank. Two reductions of NB elements for each pass. Collective over the grid.
  std::vector<double> solve_transposed(std::vector<double> w) const;

 private:
  double element(Index row, Index column) const {
    return static_cast<double>(local_[static_cast<std::size_t>(row * stored_ + column)]);
  }
  /// Sums of element(i, j) y_i over the rows [begin, end) of all ranks, for the columns j of pass k.
  std::vector<double> products(const std::vector<double>& y, Index pass, GlobalIndex begin, GlobalIndex end) const;
  void gather_diagonal_blocks();

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Index rows_;
  Index columns_;  // of A
  Index stored_;   // columns of `local`
  std::vector<Real> local_;
  std::vector<Index> pivots_;     // N: the row interchanged with row j
  std::vector<double> diagonal_;  // N x NB, row-major: row g of its diagonal block
};

/// ||B||_1 of an operator of order n that is only applied, from below, rarely by more than a factor of 3 (Higham,
/// FORTRAN codes for estimating the one-norm of a real or complex matrix, ACM TOMS 14, 1988; LAPACK dlacn2). Also from
/// a start with random signs: dlacn2's alone misses the antisymmetric eigenvectors of matrices made of sines.
double estimate_norm_one(Index n, const std::function<std::vector<double>(const std::vector<double>&)>& apply,
                         const std::function<std::vector<double>(const std::vector<double>&)>& apply_transposed);

}  // namespace glinpack
