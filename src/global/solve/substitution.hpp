// Forward and backward substitution over the grid, with the factors in place.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "matrix/pass.hpp"
#include "mpi/process_grid.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/row_exchange.hpp"

namespace glinpack {

/// The number of solutions with the same factors. With several, a rank keeps its diagonal blocks on the host.
enum class Solutions { one, several };

/// The number of diagonal blocks that the rank at `at` can hold on the host.
Index diagonal_blocks_on_host(const Distribution& distribution, GridPosition at, Solutions solutions);

/// The common parts of both substitutions: a distributed right-hand side, and the block of unknowns of a step. Block by
/// block (HPL_pdtrsv.c): the process row of block k sums the contributions of its ranks, and the owner of the
/// diagonal block solves for x_k. Its process column receives x_k and subtracts its block column's part.
template <class Real>
class SubstitutionBlocks {
 public:
  /// Allocates; the shares are zero. `a`: this rank's part of the factors, which must not change from the first
  /// gather() on. Not collective.
  SubstitutionBlocks(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                     Timeline& timeline, DeviceMatrix<Real>& a, Solutions solutions);

  /// Local rows x 1: this rank's share of the right-hand side, which is the sum of the shares of a process row.
  DeviceMatrix<Real>& shares() { return *shares_; }

  /// Brings the sum of the shares of block `plan.pass`, and the diagonal block of the factors, to the pivot's rank.
  /// Collective over the pivot's process row.
  void gather(const PassPlan& plan);
  /// On the pivot's rank, after gather(): the right-hand side, to be overwritten with x_k.
  std::span<Real> unknowns(const PassPlan& plan) { return {x_host_->data(), static_cast<std::size_t>(plan.width)}; }
  /// On the pivot's rank, after gather(): L11 \ U11.
  ColumnMajorView<const Real> diagonal_block(const PassPlan& plan) const;
  /// Sends x_k from the pivot's rank to unknowns() of all ranks of its process column. Collective over that column.
  void send_down(const PassPlan& plan);
  /// shares <- shares - A(:, k) x_k in `rows` local rows from `first` on. After send_down().
  void subtract(const PassPlan& plan, Index first, Index rows);

 private:
  void fetch_diagonal_block(const PassPlan& plan);
  /// The position of the pass's diagonal block in the buffer.
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
  std::vector<Index> pass_at_;                         // pass of the block at each place; -1: none
  Fence x_uploaded_;
};

/// U x = y, from the last block to the first.
template <class Real>
class BackwardSubstitution {
 public:
  /// Allocates. `solutions`: includes those of a ForwardSubstitution with the same blocks. Not collective.
  BackwardSubstitution(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                       Timeline& timeline, DeviceMatrix<Real>& a, Solutions solutions);

  /// With y = L^-1 P b in the last column, where the factorisation stores it. Collective over the grid. Returns x for
  /// this rank's local columns of A: the same on all ranks of a process column.
  std::vector<Real> run();
  /// With y in the shares of blocks().
  std::vector<Real> run_on_shares();

  SubstitutionBlocks<Real>& blocks() { return blocks_; }

 private:
  void start_right_hand_side();
  void solve_block(const PassPlan& plan);
  void subtract_block(const PassPlan& plan);

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  SubstitutionBlocks<Real> blocks_;
  std::vector<Real> x_;
};

/// y = L^-1 P r, as the factorisation does for b. Rows of L's columns are not interchanged after their pass. Therefore
/// each pass interchanges the rest of r before it subtracts (LAPACK's getf2 with an appended right-hand side).
template <class Real>
class ForwardSubstitution {
 public:
  /// Allocates. `blocks`: receive y. Not collective.
  ForwardSubstitution(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                      Timeline& timeline, SubstitutionBlocks<Real>& blocks);

  /// The interchanges of the factorisation. Before run(). Not collective.
  void set_interchanges(const Interchanges& interchanges);

  /// r: this rank's local rows, the same on all ranks of a process row. Collective over the grid. Leaves y in the
  /// shares of the blocks.
  void run(const std::vector<Real>& r);

 private:
  void upload_shares();

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  SubstitutionBlocks<Real>& blocks_;
  MpiTransport<Real> transport_;
  RowExchange<Real> exchange_;
  std::vector<RowExchangePlan> exchange_plans_;    // of every pass
  std::unique_ptr<HostBuffer<Real>> shares_host_;  // local rows
};

}  // namespace glinpack
