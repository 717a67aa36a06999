#include "run/memory_need.hpp"

#include <algorithm>
#include <memory>

#include "run/workspace.hpp"

namespace glinpack {

namespace {

// A constructor keeps its matrix, and reads no element.
class Unread final : public MatrixSource {
 public:
  void fill(const Distribution&, GridPosition, LocalIndex, RowMajorView<double>) const override {}
};

template <class Real>
MemoryNeed count(const RunParameters& parameters, const RankPlace& place, const ModelledDevice& device) {
  const ProcessGrid grid(place.grid, place.at);
  Timeline timeline;
  OperationList operations(timeline);
  const auto backend = make_none_backend<Real>(timeline, HostPages::lazy, device, &operations);
  const bool panels_on_device = parameters.panel == PanelPlace::device || device.is_asynchronous;
  const MemoryCount count(Arrays::only_counted);
  NodeMemory node;
  if (uses_node_windows(parameters) && place.grid.size() > 1) {
    node.windows =
        std::make_unique<NodeWindows>(grid, place.nodes_of_row, place.nodes_of_column,
                                      broadcast_sizes<Real>(parameters, place.grid, place.at, panels_on_device), 1);
  }
  node.column_shares_memory = shares_node_memory(parameters) && std::ranges::count(place.nodes_of_column, 0) ==
                                                                    static_cast<std::ptrdiff_t>(place.grid.rows);
  if (device.has_peers && parameters.parts == RunParts::all) {
    node.peers = count_peer_lines(place.nodes_of_row, place.nodes_of_column);
  }
  if (parameters.parts == RunParts::messages) {
    const LuWorkspace<Real> workspace(parameters, grid, *backend, node);
  } else {
    const Unread source;
    const Workspace<Real> workspace(parameters, grid, *backend, node, source);
  }
  return count.need();
}

}  // namespace

MemoryNeed count_memory(const RunParameters& parameters, Precision precision, const RankPlace& place,
                        const ModelledDevice& device) {
  return factor_bytes(precision) == sizeof(double) ? count<double>(parameters, place, device)
                                                   : count<float>(parameters, place, device);
}

}  // namespace glinpack
