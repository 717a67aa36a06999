// The memory of a rank during a run. What fills, saves and reads its part of the matrix does so strip by strip.
#pragma once

#include <algorithm>
#include <memory>

#include "abft/checksums.hpp"
#include "backend/backend.hpp"
#include "base/precision.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "lu/factorize.hpp"
#include "lu/parameters.hpp"
#include "matrix/matrix_source.hpp"
#include "matrix/original_matrix.hpp"
#include "mpi/node_windows.hpp"
#include "mpi/peer_windows.hpp"
#include "mpi/process_grid.hpp"
#include "solve/refinement.hpp"
#include "solve/substitution.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Shared memory for the messages of a run, `threads` a rank to copy with. Collective over the grid. Null if the run
/// does not use it, MPI itself broadcasts, nothing is sent, or allocation fails.
/// `panels_on_device`: whether this rank's device may factorise panels.
template <class Real>
std::unique_ptr<NodeWindows> node_windows_of(const RunParameters& parameters, const ProcessGrid& grid, int threads,
                                             bool panels_on_device = false);

/// What the ranks of a node share.
struct NodeMemory {
  std::unique_ptr<NodeWindows> windows;
  std::unique_ptr<PeerLines> peers = {};
  bool column_shares_memory = false;  // without messages: whether the process column would
};
/// Collective over the grid.
template <class Real>
NodeMemory node_memory_of(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend);

/// The factorisation of a run and its memory. `lu` refers to the other members.
template <class Real>
struct LuWorkspace {
  const ProcessGrid& grid;
  Distribution distribution;
  std::unique_ptr<DeviceMatrix<Real>> a;
  std::unique_ptr<Transport<Real>> transport;
  RankContext<Real> context;
  std::unique_ptr<Checksums<Real>> checksums;  // null: none
  std::unique_ptr<LuFactorization> lu;

  LuWorkspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, const NodeMemory& node);
  LuWorkspace(const LuWorkspace&) = delete;
  LuWorkspace& operator=(const LuWorkspace&) = delete;
};

/// All memory of a rank during a run. Allocated before the first collective call, so that a failing rank can report it.
template <class Real>
struct Workspace : LuWorkspace<Real> {
  using LuWorkspace<Real>::a;
  using LuWorkspace<Real>::context;
  using LuWorkspace<Real>::distribution;
  Substitution<Real> substitution;
  std::unique_ptr<Refiner<Real>> refiner;  // null if the run does not refine
  std::unique_ptr<HostBuffer<Real>> strip;
  std::unique_ptr<OriginalMatrix> original;         // what residuals are computed from
  std::unique_ptr<CheckpointCopy> checkpoint_copy;  // null: checkpoints are not written in the background

  Workspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, const NodeMemory& node,
            const MatrixSource& source);

  /// Calls body(strip of the matrix, the same in host memory, its first row) for all local rows.
  template <class Body>
  void for_each_strip(Body body) {
    const Index rows = matrix_strip_rows(a->rows(), a->columns());
    for (Index first = 0; first < a->rows() && a->columns() > 0; first += rows) {
      const DeviceBlock<Real> strip_of_a = whole(*a).block(first, 0, std::min(rows, a->rows() - first), a->columns());
      body(strip_of_a, HostBlock<Real>{strip.get(), 0, strip_of_a.rows, a->columns(), a->columns()}, first);
    }
  }
};

/// The precision of the matrix that residuals are computed from.
template <class Real>
Precision precision_of_residual(const RunParameters& parameters) {
  return parameters.refine ? Precision::double_ : precision_of<Real>;
}

/// A, b and their checksums.
template <class Real>
void upload_matrix(Workspace<Real>& workspace, const MatrixSource& source);

/// max |u_ij| of this rank's part of U.
template <class Real>
double largest_of_u(Workspace<Real>& workspace);

}  // namespace glinpack
