#include "run/workspace.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "abft/rounding_bound.hpp"
#include "base/threads.hpp"
#include "lu/no_transport.hpp"
#include "mpi/communication.hpp"
#include "mpi/mpi_transport.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

// On a GPU if possible. Software OpenGL shares the processor, which is faster without it.
template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix(const RunParameters& parameters, const Distribution& distribution,
                                                GridPosition at, const MatrixSource& source, Backend<Real>& backend,
                                                Timeline& timeline, const RunOptions& options) {
  const Precision precision = precision_of_residual<Real>(parameters);
  const DeviceUse use = options.software_gl_as_gpu ? DeviceUse::always : DeviceUse::if_faster;
  auto matrix = original_matrix_on_device(distribution, at, source, precision, backend, use);
  if (matrix) return matrix;
  return original_matrix_on_host(distribution, at, source, precision, backend.info().threads, timeline);
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
  return std::make_unique<MpiTransport<Real>>(grid, parameters.broadcast, timeline, node.windows.get(),
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

/// Calls body(first local row, strip in host memory) for all local rows, strip by strip.
template <class Real, class Body>
void for_each_strip(Workspace<Real>& workspace, Body body) {
  const DeviceMatrix<Real>& a = *workspace.a;
  const Index rows = matrix_strip_rows(a.rows(), a.columns());
  for (Index first = 0; first < a.rows() && a.columns() > 0; first += rows) {
    body(first, HostBlock<Real>{workspace.strip.get(), 0, std::min(rows, a.rows() - first), a.columns(), a.columns()});
  }
}

std::span<std::byte> bytes_of_strip(const auto& strip) {
  return std::as_writable_bytes(std::span(strip.view().data, static_cast<std::size_t>(strip.rows * strip.columns)));
}

/// Saves the matrix of a workspace, strip by strip.
template <class Real>
class MatrixSaver final : public StateSaver {
 public:
  MatrixSaver(const CheckpointPlan& plan, const CheckpointHeader& header, const ProcessGrid& grid, Timeline& timeline,
              Workspace<Real>& workspace, Backend<Real>& backend)
      : StateSaver(plan, header, grid, timeline, workspace.checkpoint_copy.get()),
        timeline_(timeline),
        workspace_(workspace),
        backend_(backend) {}

 private:
  void add_matrix(Checkpoints& checkpoints) override {
    for_each_strip(workspace_, [&](Index first, const HostBlock<Real>& strip) {
      const DeviceMatrix<Real>& a = *workspace_.a;
      backend_.wait(backend_.download({workspace_.a.get(), first, 0, strip.rows, a.columns()}, strip));
      checkpoints.add(bytes_of_strip(strip));
    });
    if (workspace_.checksums) checkpoints.add(workspace_.checksums->state());
  }
  LoadedState load(const std::string& file) override {
    backend_.wait_all();
    return load_checkpoint(workspace_, backend_, timeline_, file);
  }

  Timeline& timeline_;
  Workspace<Real>& workspace_;
  Backend<Real>& backend_;
};

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
  const bool panels_on_device = parameters.panel == PanelPlace::device || backend.update_is_asynchronous();
  NodeMemory node{.windows = node_windows_of<Real>(parameters, grid, backend.info().threads, panels_on_device)};
  if (parameters.parts == RunParts::compute && shares_node_memory(parameters)) {
    const std::vector<int> nodes = nodes_of(grid.column());
    node.column_shares_memory = std::ranges::count(nodes, nodes.front()) == grid.shape().rows;
  }
  return node;
}

template <class Real>
LuWorkspace<Real>::LuWorkspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
                               Timeline& timeline, const NodeMemory& node)
    : distribution(distribution_of(parameters, grid.shape())),
      a(backend.allocate(distribution.local_rows(grid.position()), distribution.stored_columns(grid.position()))),
      transport(make_transport<Real>(parameters, distribution, grid, timeline, node)),
      context{parameters, distribution, grid, backend, *transport, timeline},
      checksums(make_checksums(context, *a)),
      lu(make_lu(context, *a, checksums.get())) {}

template <class Real>
Workspace<Real>::Workspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
                           Timeline& timeline, const MatrixSource& source, const RunOptions& options,
                           const NodeMemory& node)
    : LuWorkspace<Real>(parameters, grid, backend, timeline, node),
      substitution(context, *a),
      strip(backend.allocate_host(matrix_strip_rows(a->rows(), a->columns()) * a->columns())),
      original(original_matrix(parameters, distribution, grid.position(), source, backend, timeline, options)) {
  if (options.checkpoints && parameters.checkpoint_copy) {
    Index bytes = a->rows() * a->columns() * static_cast<Index>(sizeof(Real));
    if (parameters.abft) bytes += Checksums<Real>::state_bytes(distribution, grid.position());
    checkpoint_copy = std::make_unique<CheckpointCopy>(static_cast<std::size_t>(bytes), backend.info().threads);
  }
  if (!parameters.refine) return;
  refiner = std::make_unique<Refiner<Real>>(context, parameters.threshold, substitution);
}

template <class Real>
void upload_matrix(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend, const MatrixSource& source) {
  const Index columns = workspace.distribution.local_columns(at);
  std::optional<RowChecksums<Real>> checksums;
  if (workspace.checksums) checksums.emplace(columns);
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    const RowMajorView<Real> to = strip.view();
    parallel_for(backend.info().threads, strip.rows, Index{1}, [&](Index begin, Index end) {
      std::vector<double> row(static_cast<std::size_t>(columns));
      for (Index i = begin; i < end; ++i) {
        source.fill(workspace.distribution, at, LocalIndex(first + i), {row.data(), 1, columns, columns});
        std::transform(row.begin(), row.end(), to.row(i), [](double value) { return static_cast<Real>(value); });
        if (checksums) checksums->append(first + i, to.row(i));
      }
    });
    backend.wait(backend.upload(strip, whole(*workspace.a).block(first, 0, strip.rows, strip.columns)));
  });
}

template <class Real>
double largest_of_u(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend) {
  const Distribution& distribution = workspace.distribution;
  double largest = 0;
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    backend.wait(backend.download(whole(*workspace.a).block(first, 0, strip.rows, strip.columns), strip));
    const Index end = distribution.local_columns_of_a(at);
    for (Index i = 0; i < strip.rows; ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(first + i), at.row);
      const Real* values = strip.view().row(i);
      for (Index j = distribution.columns.lower_bound(row, at.column).value; j < end; ++j) {
        largest = std::max(largest, std::fabs(static_cast<double>(values[j])));
      }
    }
  });
  return largest;
}

template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const ProcessGrid& grid,
                                   const CheckpointOptions& options) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const Index rows = distribution.local_rows(grid.position()), columns = distribution.stored_columns(grid.position());
  return {.options = options,
          .run = {},
          .at = grid.position(),
          .rows = rows,
          .columns = columns,
          .piece_rows = std::max<Index>(1, matrix_strip_rows(rows, columns)),
          .element = sizeof(Real),
          .state_bytes = parameters.abft ? Checksums<Real>::state_bytes(distribution, grid.position()) : 0};
}

template <class Real>
LoadedState load_checkpoint(Workspace<Real>& workspace, Backend<Real>& backend, Timeline& timeline,
                            const std::string& file) {
  CheckpointReader reader(file);
  LoadedState state{reader.header().pass, {.pivots = reader.read_pivots()}};
  const auto read = [&](std::span<std::byte> piece) {
    const auto scope = timeline.scope(Lane::cpu, Phase::checkpoint, static_cast<std::int64_t>(piece.size()));
    reader.read(piece);
  };
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    read(bytes_of_strip(strip));
    backend.wait(backend.upload(strip, whole(*workspace.a).block(first, 0, strip.rows, strip.columns)));
  });
  if (workspace.checksums) {
    std::vector<std::byte> checks(static_cast<std::size_t>(reader.header().state_bytes));
    read(checks);
    workspace.checksums->restore(checks);
  }
  return state;
}

template <class Real>
std::unique_ptr<StateSaver> make_saver(const CheckpointPlan& plan, const CheckpointHeader& header,
                                       const ProcessGrid& grid, Timeline& timeline, Workspace<Real>& workspace,
                                       Backend<Real>& backend) {
  return std::make_unique<MatrixSaver<Real>>(plan, header, grid, timeline, workspace, backend);
}

template std::unique_ptr<NodeWindows> node_windows_of<float>(const RunParameters&, const ProcessGrid&, int, bool);
template NodeMemory node_memory_of(const RunParameters&, const ProcessGrid&, Backend<float>&);
template struct LuWorkspace<float>;
template struct Workspace<float>;
template void upload_matrix(Workspace<float>&, GridPosition, Backend<float>&, const MatrixSource&);
template double largest_of_u(Workspace<float>&, GridPosition, Backend<float>&);
template CheckpointHeader checkpoint_header<float>(const RunParameters&, const ProcessGrid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<float>&, Backend<float>&, Timeline&, const std::string&);
template std::unique_ptr<StateSaver> make_saver(const CheckpointPlan&, const CheckpointHeader&, const ProcessGrid&,
                                                Timeline&, Workspace<float>&, Backend<float>&);
template std::unique_ptr<NodeWindows> node_windows_of<double>(const RunParameters&, const ProcessGrid&, int, bool);
template NodeMemory node_memory_of(const RunParameters&, const ProcessGrid&, Backend<double>&);
template struct LuWorkspace<double>;
template struct Workspace<double>;
template void upload_matrix(Workspace<double>&, GridPosition, Backend<double>&, const MatrixSource&);
template double largest_of_u(Workspace<double>&, GridPosition, Backend<double>&);
template CheckpointHeader checkpoint_header<double>(const RunParameters&, const ProcessGrid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<double>&, Backend<double>&, Timeline&, const std::string&);
template std::unique_ptr<StateSaver> make_saver(const CheckpointPlan&, const CheckpointHeader&, const ProcessGrid&,
                                                Timeline&, Workspace<double>&, Backend<double>&);

}  // namespace glinpack
