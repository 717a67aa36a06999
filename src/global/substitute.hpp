// Backward substitution over the grid: U x = y, where y = L^-1 P b stands in the last column.
#pragma once

#include <memory>
#include <vector>

#include "global/process_grid.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// Block by block from the last to the first (HPL_pdtrsv.c): the process row of the block adds up what its ranks have
/// subtracted so far, the owner of the diagonal block solves, its process column gets x_k and subtracts U(:, k) x_k.
template <class Real>
class BackwardSubstitution {
 public:
  /// Allocates. Not collective.
  BackwardSubstitution(const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
                       Timeline& timeline, DeviceMatrix<Real>& a);

  /// Collective over the grid. Returns x for this rank's local columns of A: the same on all ranks of a process column.
  std::vector<Real> run();

 private:
  void start_right_hand_side();
  void solve_block(Index pass);
  void subtract_block(Index pass);

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  std::unique_ptr<DeviceMatrix<Real>> y_;             // local rows x 1: this rank's share of y - U x
  std::unique_ptr<DeviceMatrix<Real>> x_block_;       // nb x 1
  std::unique_ptr<HostBuffer<Real>> y_host_;          // nb
  std::unique_ptr<HostBuffer<Real>> x_host_;          // nb
  std::unique_ptr<HostBuffer<Real>> diagonal_block_;  // nb x nb
  std::vector<Real> x_;
};

}  // namespace glinpack
