#include "global/node_windows.hpp"

#include <cstdio>
#include <utility>

#include "global/communication.hpp"
#include "global/panel.hpp"

namespace glinpack {

namespace {

std::unique_ptr<NodeWindow> window_of(MPI_Comm line, std::vector<int> nodes, std::size_t largest, ThreadTeam& team) {
  if (!any_node_shared(nodes)) return nullptr;
  return std::make_unique<NodeWindow>(line, std::move(nodes), largest, team);
}

void warn_once(const std::string& why) {
  static bool warned = false;
  if (warned) return;
  warned = true;
  std::fprintf(stderr, "glinpack: %s; the processes of a node go on with messages, as with --node-broadcast mpi\n",
               why.c_str());
}

}  // namespace

template <class Real>
BroadcastSizes broadcast_sizes(const Distribution& distribution, GridPosition at, Index rows_above) {
  const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(Real); };
  return {.panel = bytes(panel_message_elements<Real>(rows_above + distribution.local_rows(at), distribution.nb)),
          .u12 = bytes(distribution.nb * distribution.local_columns(at))};
}

NodeWindows::NodeWindows(const ProcessGrid& grid, std::vector<int> nodes_of_row, std::vector<int> nodes_of_column,
                         const BroadcastSizes& largest, int threads)
    : team_(any_node_shared(nodes_of_row) || any_node_shared(nodes_of_column) ? threads : 1),
      row_(window_of(grid.row(), std::move(nodes_of_row), largest.panel, team_)),
      column_(window_of(grid.column(), std::move(nodes_of_column), largest.u12, team_)) {
  std::string error;
  for (const NodeWindow* window : {row_.get(), column_.get()}) {
    if (window != nullptr && error.empty()) error = window->error();
  }
  agree_or_throw(grid.all(), error);
}

bool takes_node_windows(const RunParameters& parameters) {
  return parameters.node_transport == NodeTransport::shared && parameters.broadcast != BroadcastKind::ibcast &&
         parameters.parts != RunParts::compute;
}

template <class Real>
std::unique_ptr<NodeWindows> make_node_windows(const RunParameters& parameters, const Distribution& distribution,
                                               const ProcessGrid& grid, int threads) {
  if (!takes_node_windows(parameters) || grid.shape().size() == 1) return nullptr;
  try {
    return std::make_unique<NodeWindows>(
        grid, nodes_of(grid.row()), nodes_of(grid.column()),
        broadcast_sizes<Real>(distribution, grid.position(), rows_above_panels(parameters, distribution)), threads);
  } catch (const AgreedError& failure) {
    if (grid.is_root()) warn_once(failure.what());
    return nullptr;
  } catch (const std::exception& failure) {
    abort_job(failure.what());  // the others wait for this rank's part in what failed
  }
}

template BroadcastSizes broadcast_sizes<float>(const Distribution&, GridPosition, Index);
template BroadcastSizes broadcast_sizes<double>(const Distribution&, GridPosition, Index);
template std::unique_ptr<NodeWindows> make_node_windows<float>(const RunParameters&, const Distribution&,
                                                               const ProcessGrid&, int);
template std::unique_ptr<NodeWindows> make_node_windows<double>(const RunParameters&, const Distribution&,
                                                                const ProcessGrid&, int);

}  // namespace glinpack
