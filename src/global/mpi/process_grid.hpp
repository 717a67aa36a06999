// The communicators of the P x Q process grid.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "mpi/communication.hpp"
#include "transport/communicator.hpp"

namespace glinpack {

/// Owns the Cartesian communicator of the grid and those of its rows and columns (MPI_Cart_create, MPI_Cart_sub; white
/// paper, listing 2). Move-only. On ranks beyond P Q the grid is inactive.
class ProcessGrid final : public Grid {
 public:
  /// Collective over `world`, which must have at least shape.size() ranks, and nodes as positions_of_ranks() says
  /// (std::invalid_argument otherwise, on every rank).
  ProcessGrid(MPI_Comm world, GridShape shape, RankOrder order, const std::optional<GridShape>& node_grid = {});
  /// Inactive, with a position: for what counts memory and sends nothing.
  ProcessGrid(GridShape shape, GridPosition position) : Grid(shape, position) {}

  bool active() const { return communicators_->all != MPI_COMM_NULL; }
  const MpiCommunicator& all() const override { return communicators_->all; }
  const MpiCommunicator& row() const override { return communicators_->row; }
  const MpiCommunicator& column() const override { return communicators_->column; }

 private:
  struct Communicators {
    MpiCommunicator all, row, column;
    Communicators() = default;
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    ~Communicators();
  };
  std::unique_ptr<Communicators> communicators_ = std::make_unique<Communicators>();
};

}  // namespace glinpack
