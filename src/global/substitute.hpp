// Forward and backward substitution over the grid, with the factors where the factorisation left them.
#pragma once

#include <memory>
#include <vector>

#include "global/pass_messages.hpp"
#include "global/row_exchange.hpp"
#include "global/substitution_blocks.hpp"

namespace glinpack {

/// U x = y, from the last block to the first.
template <class Real>
class BackwardSubstitution {
 public:
  /// Allocates. `solutions`: how many are to come, those of a ForwardSubstitution with its blocks counted. Not
  /// collective.
  BackwardSubstitution(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                       Timeline& timeline, DeviceMatrix<Real>& a, Solutions solutions);

  /// With y = L^-1 P b, which the factorisation left in the last column. Collective over the grid. Returns x for this
  /// rank's local columns of A: the same on all ranks of a process column.
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

/// y = L^-1 P r, as the factorisation did it with b: the rows of L's columns stay where their pass left them, so each
/// pass interchanges what is left of r before it subtracts (LAPACK's getf2 with a right-hand side beside the matrix).
template <class Real>
class ForwardSubstitution {
 public:
  /// Allocates. `blocks`: those that y goes to. Not collective.
  ForwardSubstitution(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                      Timeline& timeline, SubstitutionBlocks<Real>& blocks);

  /// The interchanges of a factorisation (Factorization::pivots). Before run(). Not collective.
  void set_pivots(const std::vector<GlobalIndex>& pivots, Pivoting pivoting);

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
  PassMessages messages_;
  RowExchange<Real> exchange_;
  std::vector<RowExchangePlan> interchanges_;      // of every pass
  std::unique_ptr<HostBuffer<Real>> shares_host_;  // local rows
};

}  // namespace glinpack
