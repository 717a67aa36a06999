// The P x Q grid of processes and its communicators.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

namespace glinpack {

/// A place in the P x Q process grid.
struct GridPosition {
  int row = 0;
  int column = 0;
  friend bool operator==(const GridPosition&, const GridPosition&) = default;
};

struct GridShape {
  int rows = 1;     // P
  int columns = 1;  // Q
  int size() const { return rows * columns; }
  friend bool operator==(const GridShape&, const GridShape&) = default;
};

/// How ranks fill the grid (HPL.dat line 9).
enum class RankOrder { row_major, column_major };

/// The position of every rank of the world; empty on ranks that the grid does not need. Ranks fill the grid in `order`.
/// With `node_grid` (rocHPL's -p and -q), the grid consists of tiles of that shape, one per node: nodes fill the grid
/// of tiles, and the ranks of a node fill its tile, both in `order`. `nodes`: of every rank, as nodes_of() numbers
/// them. Throws std::invalid_argument unless the grid is a multiple of `node_grid` and every node has as many ranks.
/// Pure.
std::vector<std::optional<GridPosition>> positions_of_ranks(GridShape shape, RankOrder order,
                                                            const std::optional<GridShape>& node_grid,
                                                            std::span<const int> nodes);
/// True if the grid consists of whole tiles.
bool is_multiple(GridShape shape, GridShape tile);

/// Owns the Cartesian communicator of the grid and those of its rows and columns (MPI_Cart_create, MPI_Cart_sub; white
/// paper, listing 2). Move-only. On ranks beyond P Q the grid is inactive.
class ProcessGrid {
 public:
  /// Collective over `world`, which must have at least shape.size() ranks, and nodes as positions_of_ranks() says
  /// (std::invalid_argument otherwise, on every rank).
  ProcessGrid(MPI_Comm world, GridShape shape, RankOrder order, const std::optional<GridShape>& node_grid = {});
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

/// The squarest P x Q with P Q = size that is a multiple of `tile`, and P <= Q if there are two. `size` must be a
/// multiple of tile.size().
GridShape squarest_grid(int size, GridShape tile = {1, 1});

}  // namespace glinpack
