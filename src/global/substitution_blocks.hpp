// What forward and backward substitution over the grid have in common: a right-hand side in shares, and the block of
// unknowns that a step solves for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "global/process_grid.hpp"
#include "global/schedule.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// One, or several with the same factors: then a rank's diagonal blocks stay on the host from the first on.
enum class Solutions { one, several };

/// How many diagonal blocks the rank at `at` has room for on the host.
Index diagonal_blocks_on_host(const Distribution& distribution, GridPosition at, Solutions solutions);

/// Block by block (HPL_pdtrsv.c): the process row of block k adds up what its ranks have subtracted so far, the owner
/// of the diagonal block solves for x_k, its process column gets x_k and subtracts its block column's part.
template <class Real>
class SubstitutionBlocks {
 public:
  /// Allocates; the shares are zero. `a`: this rank's part of the factors, which must not change from the first
  /// gather() on. `solutions`: how many are to come. Not collective.
  SubstitutionBlocks(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                     Timeline& timeline, DeviceMatrix<Real>& a, Solutions solutions);

  /// Local rows x 1: this rank's share of the right-hand side. Those of a process row add up to it.
  DeviceMatrix<Real>& shares() { return *shares_; }

  /// The sum of the shares of block `plan.pass` and the diagonal block of the factors, both to the pivot's rank. Over
  /// the pivot's process row.
  void gather(const PassPlan& plan);
  /// On the pivot's rank, from gather() on: right-hand side, to be overwritten with x_k; L11 \ U11.
  std::span<Real> unknowns(const PassPlan& plan) { return {x_host_->data(), static_cast<std::size_t>(plan.width)}; }
  ColumnMajorView<const Real> diagonal_block(const PassPlan& plan) const;
  /// x_k from the pivot's rank to unknowns() of all ranks of its process column. Over that column.
  void send_down(const PassPlan& plan);
  /// shares <- shares - A(:, k) x_k in `rows` local rows from `first` on. After send_down().
  void subtract(const PassPlan& plan, Index first, Index rows);

 private:
  void fetch_diagonal_block(const PassPlan& plan);
  /// Where in the buffer's places the pass's diagonal block goes.
  std::size_t place_of(const PassPlan& plan) const;
  HostBlock<Real> block_on_host(const PassPlan& plan) const;

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  std::unique_ptr<DeviceMatrix<Real>> shares_;         // local rows x 1
  std::unique_ptr<DeviceMatrix<Real>> x_block_;        // nb x 1
  std::unique_ptr<HostBuffer<Real>> y_host_;           // nb
  std::unique_ptr<HostBuffer<Real>> x_host_;           // nb
  std::unique_ptr<HostBuffer<Real>> diagonal_blocks_;  // nb x nb each
  std::vector<Index> pass_at_;                         // whose block is at each place; -1: none
  Fence x_uploaded_;
};

}  // namespace glinpack
