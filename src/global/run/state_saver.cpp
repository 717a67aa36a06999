#include "run/state_saver.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace glinpack {

template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const Grid& grid,
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
LoadedState load_checkpoint(Workspace<Real>& workspace, const std::string& file) {
  DeviceMemory<Real>& memory = workspace.context.backend;
  CheckpointReader reader(file);
  LoadedState state{reader.header().pass, {.pivots = reader.read_pivots()}};
  const auto read = [&](std::span<std::byte> piece) {
    const auto bytes = static_cast<std::int64_t>(piece.size());
    const auto scope = workspace.context.timeline().scope(Lane::cpu, Phase::checkpoint, bytes);
    reader.read(piece);
  };
  workspace.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index /*first*/) {
    read(bytes_of_strip(on_host));
    memory.wait(memory.upload(on_host, strip));
  });
  if (workspace.checksums) {
    std::vector<std::byte> checks(static_cast<std::size_t>(reader.header().state_bytes));
    read(checks);
    workspace.checksums->restore(checks);
  }
  return state;
}

template CheckpointHeader checkpoint_header<float>(const RunParameters&, const Grid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<float>&, const std::string&);
template CheckpointHeader checkpoint_header<double>(const RunParameters&, const Grid&, const CheckpointOptions&);
template LoadedState load_checkpoint(Workspace<double>&, const std::string&);

}  // namespace glinpack
