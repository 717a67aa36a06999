#include "lu/parameters.hpp"

#include "lu/panel/panels.hpp"
#include "solve/refinement.hpp"

namespace glinpack {

double hpl_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 1.5);
}

double factorization_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 0.5);
}

MemoryNeed memory_per_rank(const RunParameters& parameters, const Distribution& distribution, GridPosition position,
                           Precision precision, int device_copies) {
  const auto element = static_cast<double>(factor_bytes(precision));
  const auto rows = static_cast<double>(distribution.local_rows(position));
  const auto columns = static_cast<double>(distribution.local_columns(position));
  const Index width = std::min(parameters.nb, parameters.n);
  const auto nb = static_cast<double>(width);
  const auto above = static_cast<double>(rows_above_panels(parameters, distribution));
  const bool shares = uses_node_windows(parameters);  // as if the ranks of a process column were on one node
  const bool device_panels = prefers_device_panels(parameters, distribution.shape, shares);
  const double panels = device_panels ? 2 : 1;
  const bool gathered = device_panels && gathers_panels(parameters, distribution.shape, shares);
  const double panel_rows = gathered ? static_cast<double>(distribution.n) : above + rows;
  const bool in_matrix = device_panels && distribution.shape.rows > 1 && !gathered;
  const auto strips =
      in_matrix ? static_cast<double>(device_panel_elements(distribution.local_rows(position), width)) : 0.0;
  // A; L11 and L21, U12, rows being exchanged; buffers of a panel over several devices; y, x
  const double device =
      device_copies * (rows * columns + nb * (panels * panel_rows + 3 * columns) + strips + rows + nb);
  const double staged_rows = distribution.shape.rows > 1 ? 3 * nb * columns : 0;  // U12, rows in, rows out
  const double strip = std::min(rows * columns, std::max(columns, static_cast<double>(matrix_strip_elements)));
  const double panel = nb * (above + rows + 2 * nb);
  // placeholders for received data: a panel, U12
  const double placeholders = parameters.parts == RunParts::compute ? panel + staged_rows / 3 : 0;
  // two slots for panels and two for U12, each for two ranks of a node at least
  // and of the rings between them, this rank's own, which hold as much as rows in and out
  const double windows = shares ? (distribution.shape.columns > 1 ? panel : 0) + staged_rows : 0;
  const double gathered_rows = gathered ? nb * panel_rows : 0;
  const double host = 2 * panel + staged_rows + gathered_rows + strip + placeholders + windows;
  const auto bytes = [element](double elements) {
    constexpr double most = 9e18;  // fits std::int64_t
    return static_cast<std::int64_t>(std::min(most, elements * element));
  };
  if (parameters.parts == RunParts::messages) return {bytes(2 * panel + staged_rows + windows), 0};
  if (precision != Precision::mixed) return {bytes(host), bytes(device)};
  // two right-hand sides for the solution; rows being exchanged; and the vectors in double precision
  const double refinement =
      (2 * rows + 2 * nb) * element + refinement_elements(distribution, position) * sizeof(double);
  return {bytes(host + refinement / element), bytes(device)};
}

namespace {

// Of a ring. Longer messages go through it slice by slice.
constexpr std::size_t least_ring_bytes = std::size_t{1} << 20;

}  // namespace

template <class Real>
BroadcastSizes broadcast_sizes(const RunParameters& parameters, GridShape grid, GridPosition at) {
  const Distribution distribution = distribution_of(parameters, grid);
  const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(Real); };
  const Index panel_rows = rows_above_panels(parameters, distribution) + distribution.local_rows(at);
  const Index rows_of_columns = distribution.nb * distribution.local_columns(at);
  const bool rows_cross = pivots_across_processes(parameters.pivoting) && grid.rows > 1;
  return {.row = bytes(panel_message_elements<Real>(panel_rows, distribution.nb)),
          .column = bytes(rows_of_columns),
          .ring = rows_cross ? std::max(least_ring_bytes, bytes(2 * rows_of_columns / (grid.rows - 1))) : 0};
}

template BroadcastSizes broadcast_sizes<float>(const RunParameters&, GridShape, GridPosition);
template BroadcastSizes broadcast_sizes<double>(const RunParameters&, GridShape, GridPosition);

}  // namespace glinpack
