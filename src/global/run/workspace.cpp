#include "run/workspace.hpp"

#include <spdlog/spdlog.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/threads.hpp"
#include "lu/no_transport.hpp"
#include "mpi/communication.hpp"
#include "mpi/mpi_transport.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

// On a GPU if possible. A software device shares the processor, which is faster without it.
template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix(const RankContext<Real>& context, const MatrixSource& source) {
  const RunParameters& parameters = context.parameters;
  const LocalPart part{context.distribution, context.position(), source, precision_of_residual<Real>(parameters)};
  const DeviceUse use = parameters.software_as_gpu ? DeviceUse::always : DeviceUse::if_faster;
  auto matrix = original_matrix_on_device(part, context.backend, use);
  if (matrix) return matrix;
  return original_matrix_on_host(part, context.backend.info().threads, context.timeline());
}

template <class Real>
std::unique_ptr<Transport<Real>> make_transport(const RunParameters& parameters, const Distribution& distribution,
                                                const ProcessGrid& grid, Timeline& timeline, const NodeMemory& node) {
  if (parameters.parts == RunParts::compute) {
    const BroadcastSizes largest = broadcast_sizes<Real>(parameters, grid.shape(), grid.position());
    return std::make_unique<NoTransport<Real>>(distribution, grid.position(), parameters.pivoting,
                                               std::max(largest.row, 2 * largest.column) / sizeof(Real),
                                               node.column_shares_memory);
  }
  return std::make_unique<MpiTransport<Real>>(grid, parameters.broadcast, timeline,
                                              Windows{node.windows.get(), node.peers.get()},
                                              completion_of(parameters.parts));
}

template <class Real>
std::unique_ptr<Checksums<Real>> make_checksums(const RankContext<Real>& context, DeviceMatrix<Real>& a) {
  const RunParameters& parameters = context.parameters;
  if (!parameters.abft) return nullptr;
  const Index every =
      parameters.abft_every > 0 ? parameters.abft_every : passes_between_checks(context.distribution.nb);
  return std::make_unique<Checksums<Real>>(context, a, every);
}

}  // namespace

template <class Real>
std::unique_ptr<NodeWindows> node_windows_of(const RunParameters& parameters, const ProcessGrid& grid, int threads,
                                             bool panels_on_device) {
  if (!uses_node_windows(parameters)) {
    spdlog::debug("broadcasts: no shared memory within a node");
    return nullptr;
  }
  const BroadcastSizes sizes =
      broadcast_sizes<Real>(parameters, grid.shape(), grid.position(), all_agree(grid.all(), panels_on_device));
  return make_node_windows(grid, sizes, threads);
}

template <class Real>
NodeMemory node_memory_of(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend) {
  const bool panels_on_device = parameters.panel == PanelPlace::device || backend.info().asynchronous;
  NodeMemory node{.windows = node_windows_of<Real>(parameters, grid, backend.info().threads, panels_on_device)};
  if (parameters.parts == RunParts::compute && shares_node_memory(parameters)) {
    const std::vector<int> nodes = nodes_of(grid.column());
    node.column_shares_memory = std::ranges::count(nodes, nodes.front()) == grid.shape().rows;
  }
  if (parameters.parts == RunParts::all && grid.shape().size() > 1) {
    node.peers = open_peer_lines(grid, [&backend] { return backend.open_peers(); });
  }
  return node;
}

template <class Real>
LuWorkspace<Real>::LuWorkspace(const RunParameters& parameters, const ProcessGrid& process_grid, Backend<Real>& backend,
                               const NodeMemory& node)
    : grid(process_grid),
      distribution(distribution_of(parameters, grid.shape())),
      a(backend.allocate(distribution.local_rows(grid.position()), distribution.stored_columns(grid.position()))),
      transport(make_transport<Real>(parameters, distribution, grid, backend.timeline(), node)),
      context{parameters, distribution, grid, backend, *transport},
      checksums(make_checksums(context, *a)),
      lu(make_lu(context, *a, checksums.get())) {}

template <class Real>
Workspace<Real>::Workspace(const RunParameters& parameters, const ProcessGrid& process_grid, Backend<Real>& backend,
                           const NodeMemory& node, const MatrixSource& source)
    : LuWorkspace<Real>(parameters, process_grid, backend, node),
      substitution(context, *a),
      strip(backend.allocate_host(matrix_strip_rows(a->rows(), a->columns()) * a->columns())),
      original(original_matrix(context, source)) {
  if (parameters.checkpoint_copy) {
    Index bytes = a->rows() * a->columns() * static_cast<Index>(sizeof(Real));
    if (parameters.abft) bytes += Checksums<Real>::state_bytes(distribution, context.position());
    checkpoint_copy = std::make_unique<CheckpointCopy>(static_cast<std::size_t>(bytes), backend.info().threads);
  }
  if (parameters.refine) refiner = std::make_unique<Refiner<Real>>(context, parameters.threshold, substitution);
}

template <class Real>
void upload_matrix(Workspace<Real>& workspace, const MatrixSource& source) {
  Backend<Real>& backend = workspace.context.backend;
  const GridPosition at = workspace.context.position();
  const Index columns = workspace.distribution.local_columns(at);
  std::optional<RowChecksums<Real>> checksums;
  if (workspace.checksums) checksums.emplace(columns);
  workspace.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index first) {
    const RowMajorView<Real> to = on_host.view();
    parallel_for(backend.info().threads, strip.rows, Index{1}, [&](Index begin, Index end) {
      std::vector<double> row(static_cast<std::size_t>(columns));
      for (Index i = begin; i < end; ++i) {
        source.fill(workspace.distribution, at, LocalIndex(first + i), {row.data(), 1, columns, columns});
        std::transform(row.begin(), row.end(), to.row(i), [](double value) { return static_cast<Real>(value); });
        if (checksums) checksums->append(first + i, to.row(i));
      }
    });
    backend.wait(backend.upload(on_host, strip));
  });
}

template <class Real>
double largest_of_u(Workspace<Real>& workspace) {
  const Distribution& distribution = workspace.distribution;
  Backend<Real>& backend = workspace.context.backend;
  const GridPosition at = workspace.context.position();
  double largest = 0;
  workspace.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index first) {
    backend.wait(backend.download(strip, on_host));
    const Index end = distribution.local_columns_of_a(at);
    for (Index i = 0; i < strip.rows; ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(first + i), at.row);
      const Real* values = on_host.view().row(i);
      for (Index j = distribution.columns.lower_bound(row, at.column).value; j < end; ++j) {
        largest = std::max(largest, std::fabs(static_cast<double>(values[j])));
      }
    }
  });
  return largest;
}

template std::unique_ptr<NodeWindows> node_windows_of<float>(const RunParameters&, const ProcessGrid&, int, bool);
template NodeMemory node_memory_of(const RunParameters&, const ProcessGrid&, Backend<float>&);
template struct LuWorkspace<float>;
template struct Workspace<float>;
template void upload_matrix(Workspace<float>&, const MatrixSource&);
template double largest_of_u(Workspace<float>&);
template std::unique_ptr<NodeWindows> node_windows_of<double>(const RunParameters&, const ProcessGrid&, int, bool);
template NodeMemory node_memory_of(const RunParameters&, const ProcessGrid&, Backend<double>&);
template struct LuWorkspace<double>;
template struct Workspace<double>;
template void upload_matrix(Workspace<double>&, const MatrixSource&);
template double largest_of_u(Workspace<double>&);

}  // namespace glinpack
