// The memory of a rank during a run. What fills, saves and reads its part of the matrix does so strip by strip.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abft/checksums.hpp"
#include "backend/backend.hpp"
#include "base/precision.hpp"
#include "checkpoint/checkpoints.hpp"
#include "lu/factorize.hpp"
#include "lu/parameters.hpp"
#include "matrix/matrix_source.hpp"
#include "matrix/original_matrix.hpp"
#include "mpi/node_broadcast.hpp"
#include "mpi/process_grid.hpp"
#include "run/run.hpp"
#include "run/run_observer.hpp"
#include "solve/refinement.hpp"
#include "solve/substitution.hpp"
#include "transport/rank_context.hpp"

namespace glinpack {

/// Shared memory for the messages of a run, `threads` a rank to copy with. Collective over the grid. Null if the run
/// does not use it (NodeTransport::mpi), MPI itself broadcasts, nothing is sent, or allocation fails.
/// `panels_on_device`: whether this rank's device may factorise panels.
template <class Real>
std::unique_ptr<NodeWindows> node_windows_of(const RunParameters& parameters, const ProcessGrid& grid, int threads,
                                             bool panels_on_device = false);

/// What the ranks of a node share.
struct NodeMemory {
  std::unique_ptr<NodeWindows> windows;
  bool column_shares_memory = false;  // without messages: whether the process column would
};
/// Collective over the grid.
template <class Real>
NodeMemory node_memory_of(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend);

/// The factorisation of a run and its memory. `lu` refers to the other members.
template <class Real>
struct LuWorkspace {
  Distribution distribution;
  std::unique_ptr<DeviceMatrix<Real>> a;
  std::unique_ptr<Transport<Real>> transport;
  RankContext<Real> context;
  std::unique_ptr<Checksums<Real>> checksums;  // null: none
  std::unique_ptr<LuFactorization> lu;

  LuWorkspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const NodeMemory& node);
  LuWorkspace(const LuWorkspace&) = delete;
  LuWorkspace& operator=(const LuWorkspace&) = delete;
};

/// All memory of a rank during a run. Allocated before the first collective call, so that a failing rank can report it.
template <class Real>
struct Workspace : LuWorkspace<Real> {
  using LuWorkspace<Real>::a;
  using LuWorkspace<Real>::context;
  using LuWorkspace<Real>::distribution;
  BackwardSubstitution<Real> substitution;
  std::unique_ptr<Refiner<Real>> refiner;  // null if the run does not refine
  std::unique_ptr<HostBuffer<Real>> strip;
  std::unique_ptr<OriginalMatrix> original;         // what residuals are computed from
  std::unique_ptr<CheckpointCopy> checkpoint_copy;  // null: checkpoints are not written in the background

  Workspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
            const MatrixSource& source, const RunOptions& options, const NodeMemory& node);
};

/// The precision of the matrix that residuals are computed from.
template <class Real>
Precision precision_of_residual(const RunParameters& parameters) {
  return parameters.refine ? Precision::double_ : precision_of<Real>;
}

/// A, b and their checksums.
template <class Real>
void upload_matrix(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend, const MatrixSource& source);

/// max |u_ij| of this rank's part of U.
template <class Real>
double largest_of_u(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend);

/// The header of a checkpoint of this rank, without the state: of which run, pass and time.
template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const ProcessGrid& grid,
                                   const CheckpointOptions& options);

/// The state of the matrix and of its checks, which a checkpoint has. Throws CheckpointError.
template <class Real>
LoadedState load_checkpoint(Workspace<Real>& workspace, Backend<Real>& backend, Timeline& timeline,
                            const std::string& file);

/// Saves the matrix and the state of its checks. All must outlive it.
template <class Real>
std::unique_ptr<StateSaver> make_saver(const CheckpointPlan& plan, const CheckpointHeader& header,
                                       const ProcessGrid& grid, Timeline& timeline, Workspace<Real>& workspace,
                                       Backend<Real>& backend);

}  // namespace glinpack
