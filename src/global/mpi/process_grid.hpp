// The communicators of the P x Q process grid.
#pragma once

#include <mpi.h>

#include <optional>

#include "matrix/grid.hpp"

namespace glinpack {

/// Owns the Cartesian communicator of the grid and those of its rows and columns (MPI_Cart_create, MPI_Cart_sub; white
/// paper, listing 2). Move-only. On ranks beyond P Q the grid is inactive.
class ProcessGrid {
 public:
  /// Collective over `world`, which must have at least shape.size() ranks, and nodes as positions_of_ranks() says
  /// (std::invalid_argument otherwise, on every rank).
  ProcessGrid(MPI_Comm world, GridShape shape, RankOrder order, const std::optional<GridShape>& node_grid = {});
  /// Inactive, with a position: for what counts memory and sends nothing.
  ProcessGrid(GridShape shape, GridPosition position) : shape_(shape), position_(position) {}
  ProcessGrid(ProcessGrid&& other) noexcept;
  ProcessGrid& operator=(ProcessGrid&& other) noexcept;
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;
  ~ProcessGrid();

  bool active() const { return all_ != MPI_COMM_NULL; }
  GridShape shape() const { return shape_; }
  GridPosition position() const { return position_; }
  bool is_root() const { return active() && position_ == GridPosition{0, 0}; }
  MPI_Comm all() const { return all_; }
  /// The ranks of this rank's process row, ranked by column; used for L.
  MPI_Comm row() const { return row_; }
  /// The ranks of this rank's process column, ranked by row; used for U and pivot candidates.
  MPI_Comm column() const { return column_; }

 private:
  void release() noexcept;

  GridShape shape_;
  GridPosition position_;
  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
};

}  // namespace glinpack
