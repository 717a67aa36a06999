// Forward and backward substitution over the grid, with the factors in place.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "matrix/pass.hpp"
#include "transport/rank_context.hpp"
#include "transport/row_exchange.hpp"

namespace glinpack {

/// The common parts of both substitutions: a distributed right-hand side in the memory of the backend. Block by block
/// (HPL_pdtrsv.c): the process row of block k sums the contributions of its ranks, and the owner of the diagonal block
/// solves for x_k. Its process column receives x_k and subtracts its block column's part. The host sees only blocks
/// that are sent.
template <class Real>
class SubstitutionBlocks {
 public:
  /// Allocates; the shares are zero. `a`: this rank's part of the factors. Not collective.
  SubstitutionBlocks(const RankContext<Real>& context, DeviceMatrix<Real>& a);

  /// Local rows x 1: this rank's share of the right-hand side, which is the sum of the shares of a process row.
  DeviceMatrix<Real>& shares() { return *shares_; }
  /// The shares on the host, for upload_shares() and after download_shares(), which wait.
  std::span<Real> shares_on_host() { return {shares_host_->data(), static_cast<std::size_t>(shares_host_->size())}; }
  void upload_shares();
  void download_shares();

  /// Solves for x_k in the shares of the pivot's rank; the other shares of the block become zero. Collective over the
  /// pivot's process row.
  void solve(const PassPlan& plan, Triangle triangle);
  /// Sends x_k to all ranks of the pivot's process column. Returns it on those that receive it. Collective over that
  /// column.
  std::span<const Real> send_down(const PassPlan& plan);
  /// shares <- shares - A(:, k) x_k in `rows` local rows from `first` on. After send_down().
  void subtract(const PassPlan& plan, Index first, Index rows);

 private:
  void sum_shares(const PassPlan& plan);
  DeviceBlock<Real> share_of_block(const PassPlan& plan) {
    return whole(*shares_).block(plan.panel_row.value, 0, plan.width, 1);
  }
  /// x_k on the device, after send_down().
  DeviceBlock<Real> unknowns(const PassPlan& plan) {
    return plan.role == Role::pivot ? share_of_block(plan) : whole(*x_block_).block(0, 0, plan.width, 1);
  }

  const Distribution& distribution_;
  const Grid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  std::unique_ptr<DeviceMatrix<Real>> shares_;     // local rows x 1
  std::unique_ptr<DeviceMatrix<Real>> x_block_;    // nb x 1, received
  std::unique_ptr<HostBuffer<Real>> shares_host_;  // local rows
  std::unique_ptr<HostBuffer<Real>> zeros_;        // nb
  std::unique_ptr<HostBuffer<Real>> sum_host_;     // nb
  std::unique_ptr<HostBuffer<Real>> x_host_;       // nb
  Fence sum_uploaded_;
  Fence x_uploaded_;
};

/// U x = y, from the last block to the first.
template <class Real>
class BackwardSubstitution {
 public:
  /// Allocates. Not collective.
  BackwardSubstitution(const RankContext<Real>& context, DeviceMatrix<Real>& a);

  /// With y = L^-1 P b in the last column, where the factorisation stores it. Collective over the grid. Returns x for
  /// this rank's local columns of A: the same on all ranks of a process column. Valid once, while the shares of ranks
  /// without that column are zero, as the constructor leaves them.
  std::vector<Real> run();
  /// With y in the shares of blocks().
  std::vector<Real> run_on_shares();

  SubstitutionBlocks<Real>& blocks() { return blocks_; }

 private:
  void start_right_hand_side();

  const Distribution& distribution_;
  const Grid& grid_;
  Backend<Real>& backend_;
  DeviceMatrix<Real>& a_;
  SubstitutionBlocks<Real> blocks_;
};

/// y = L^-1 P r, as the factorisation does for b. Rows of L's columns are not interchanged after their pass. Therefore
/// each pass interchanges the rest of r before it subtracts (LAPACK's getf2 with an appended right-hand side).
template <class Real>
class ForwardSubstitution {
 public:
  /// Allocates. `blocks`: receive y. Not collective.
  ForwardSubstitution(const RankContext<Real>& context, SubstitutionBlocks<Real>& blocks);

  /// The interchanges of the factorisation. Before run(). Not collective.
  void set_interchanges(const Interchanges& interchanges);

  /// r: this rank's local rows, the same on all ranks of a process row. Collective over the grid. Leaves y in the
  /// shares of the blocks.
  void run(const std::vector<Real>& r);

 private:
  const Distribution& distribution_;
  const Grid& grid_;
  SubstitutionBlocks<Real>& blocks_;
  RowExchange<Real> exchange_;
  std::vector<RowExchangePlan> exchange_plans_;  // of every pass
};

}  // namespace glinpack
