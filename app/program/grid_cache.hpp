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
    if (!grid_ || grid_->shape() != run.grid || order_ != run.order) {
      grid_.reset();
      grid_.emplace(MPI_COMM_WORLD, run.grid, run.order);
      order_ = run.order;
    }
    return *grid_;
  }

 private:
  std::optional<ProcessGrid> grid_;
  RankOrder order_ = RankOrder::row_major;
};

}  // namespace glinpack::app
