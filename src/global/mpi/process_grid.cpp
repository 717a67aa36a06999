#include "mpi/process_grid.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/session.hpp"

namespace glinpack {

ProcessGrid::ProcessGrid(MPI_Comm world, GridShape shape, RankOrder order, const std::optional<GridShape>& node_grid)
    : Grid(shape, {-1, -1}) {
  const int rank = rank_in(world);
  const int size = size_of(world);
  if (shape.rows < 1 || shape.columns < 1 || shape.size() > size) {
    throw std::invalid_argument("a process grid of " + std::to_string(shape.rows) + " x " +
                                std::to_string(shape.columns) + " does not fit " + std::to_string(size) + " processes");
  }
  const std::vector<int> nodes = node_grid ? nodes_of(world) : std::vector<int>(static_cast<std::size_t>(size));
  const std::optional<GridPosition> mine =
      positions_of_ranks(shape, order, node_grid, nodes)[static_cast<std::size_t>(rank)];
  // MPI_Cart_create ranks row-major
  const bool is_member = mine.has_value();
  const int key = is_member ? mine->row * shape.columns + mine->column : 0;
  MPI_Comm members = MPI_COMM_NULL;
  GLINPACK_MPI(MPI_Comm_split(world, is_member ? 0 : MPI_UNDEFINED, key, &members));
  if (!is_member) return;

  const int extents[2] = {shape.rows, shape.columns};
  const int periodic[2] = {0, 0};
  const int keep_columns[2] = {0, 1};
  const int keep_rows[2] = {1, 0};
  int coordinates[2] = {0, 0};
  MPI_Comm all = MPI_COMM_NULL, row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  GLINPACK_MPI(MPI_Cart_create(members, 2, extents, periodic, 0, &all));
  GLINPACK_MPI(MPI_Comm_free(&members));
  GLINPACK_MPI(MPI_Cart_sub(all, keep_columns, &row));
  GLINPACK_MPI(MPI_Cart_sub(all, keep_rows, &column));
  GLINPACK_MPI(MPI_Cart_coords(all, rank_in(all), 2, coordinates));
  position_ = {coordinates[0], coordinates[1]};
  communicators_->all = MpiCommunicator(all);
  communicators_->row = MpiCommunicator(row);
  communicators_->column = MpiCommunicator(column);
  register_communicator(all, Awaited::all);
  register_communicator(row, Awaited::row);
  register_communicator(column, Awaited::column);
}

ProcessGrid::Communicators::~Communicators() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  for (MPI_Comm communicator : {MPI_Comm(column), MPI_Comm(row), MPI_Comm(all)}) {
    if (communicator == MPI_COMM_NULL) continue;
    unregister_communicator(communicator);
    MPI_Comm_free(&communicator);
  }
}

}  // namespace glinpack
