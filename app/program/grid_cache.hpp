// Keeps the process grid of the previous run: the grid changes least often in a sweep.
#pragma once

#include <mpi.h>

#include <optional>

#include "app/record/run_record.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app {

class GridCache {
 public:
  /// Collective over MPI_COMM_WORLD.
  const ProcessGrid& grid_for(const RunRecord& run) {
    if (!grid_ || grid_->shape() != run.grid || order_ != run.order || node_grid_ != run.node_grid) {
      grid_.reset();
      grid_.emplace(MPI_COMM_WORLD, run.grid, run.order, run.node_grid);
      order_ = run.order;
      node_grid_ = run.node_grid;
    }
    return *grid_;
  }

 private:
  std::optional<ProcessGrid> grid_;
  RankOrder order_ = RankOrder::row_major;
  std::optional<GridShape> node_grid_;
};

}  // namespace glinpack::app
