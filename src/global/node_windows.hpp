// The windows of a run: for its process rows and for its process columns.
#pragma once

#include <memory>

#include "global/node_window.hpp"
#include "global/process_grid.hpp"
#include "global/run.hpp"
#include "local/thread_team.hpp"

namespace glinpack {

/// How many bytes a run broadcasts at most: panels along a rank's process row, with so many rows above its own
/// (rows_above_panels()), and U12 down its process column.
struct BroadcastSizes {
  std::size_t panel = 0;
  std::size_t u12 = 0;
};
template <class Real>
BroadcastSizes broadcast_sizes(const Distribution& distribution, GridPosition at, Index rows_above = 0);

/// Windows of a rank's process row and column, each null where no two of its ranks share a node.
class NodeWindows {
 public:
  /// Collective over the grid. `nodes_of_row`, `nodes_of_column`: see nodes_of(). Throws AgreedError, on all ranks
  /// alike, where memory cannot be had on any.
  NodeWindows(const ProcessGrid& grid, std::vector<int> nodes_of_row, std::vector<int> nodes_of_column,
              const BroadcastSizes& largest, int threads);

  NodeWindow* row() const { return row_.get(); }
  NodeWindow* column() const { return column_.get(); }

 private:
  ThreadTeam team_;
  std::unique_ptr<NodeWindow> row_;
  std::unique_ptr<NodeWindow> column_;
};

/// Whether a run takes windows where ranks share a node: unless it is told not to, MPI broadcasts, or nothing is sent.
bool takes_node_windows(const RunParameters& parameters);

/// Those of a run, `threads` a rank to copy with. Collective over the grid. Null where the run takes
/// none; and where memory cannot be had, which the grid's root says once on standard error.
template <class Real>
std::unique_ptr<NodeWindows> make_node_windows(const RunParameters& parameters, const Distribution& distribution,
                                               const ProcessGrid& grid, int threads);

}  // namespace glinpack
