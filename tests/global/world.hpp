// The world's rank, size and process grids, and a folder of its ranks.
#pragma once

#include <gmock/gmock.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "matrix/distribution.hpp"
#include "mpi/communication.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// The grids that use every rank of this world. A world of 6 also gets a 2 x 2 grid, which leaves two ranks inactive.
inline std::vector<GridShape> grids_of_this_world() {
  const int size = world_size();
  std::vector<GridShape> grids;
  for (const GridShape grid : {GridShape{1, 1}, {1, 2}, {2, 1}, {1, 4}, {4, 1}, {2, 2}, {2, 3}, {3, 2}}) {
    if (grid.size() == size || (size == 6 && grid == GridShape{2, 2})) grids.push_back(grid);
  }
  return grids;
}

/// Calls body(grid) for every grid of this world in which this rank is active.
template <class Body>
void on_every_grid(Body body) {
  for (const GridShape shape : grids_of_this_world()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    if (!grid.active()) continue;
    SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns);
    body(grid);
  }
}

/// An empty folder for all ranks of the world, in its lifetime.
class SharedFolder {
 public:
  SharedFolder() {
    std::string name = testing::TempDir() + "checkpoints-XXXXXX";
    if (world_rank() == 0 && mkdtemp(name.data()) == nullptr) name.clear();
    world().broadcast(0, name);
    path = name;
  }
  ~SharedFolder() {
    world().barrier();
    if (world_rank() == 0) std::filesystem::remove_all(path);
  }
  std::string path;
};

}  // namespace glinpack::test
