// The communicators of the P x Q process grid.
#pragma once

#include <mpi.h>

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
  ProcessGrid(ProcessGrid&& other) noexcept;
  ProcessGrid& operator=(ProcessGrid&& other) noexcept;
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;
  ~ProcessGrid() override;

  bool active() const { return all_ != MPI_COMM_NULL; }
  const MpiCommunicator& all() const override { return all_; }
  const MpiCommunicator& row() const override { return row_; }
  const MpiCommunicator& column() const override { return column_; }

 private:
  void release() noexcept;

  MpiCommunicator all_;
  MpiCommunicator row_;
  MpiCommunicator column_;
};

}  // namespace glinpack
