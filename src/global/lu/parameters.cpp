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
                           Precision precision, int device_copies, bool panels_on_device) {
  const auto element = static_cast<double>(factor_bytes(precision));
  const auto rows = static_cast<double>(distribution.local_rows(position));
  const auto columns = static_cast<double>(distribution.stored_columns(position));
  const Index width = std::min(parameters.nb, parameters.n);
  const auto nb = static_cast<double>(width);
  const auto above = static_cast<double>(rows_above_panels(parameters, distribution));
  const PanelMethod method = panels_on_device
                                 ? panel_method(parameters, distribution.shape, shares_node_memory(parameters))
                                 : PanelMethod::host;
  const double panels = method == PanelMethod::host ? 1 : 2;
  const double gathered_rows = method == PanelMethod::gathered ? static_cast<double>(distribution.n) : 0.0;
  const double panel_rows = std::max(gathered_rows, above + rows);
  const auto strips = method == PanelMethod::distributed
                          ? static_cast<double>(device_panel_elements(distribution.local_rows(position), width))
                          : 0.0;
  // sums of every process column's L and of the rows
  const double checksums = parameters.abft ? (2 * distribution.shape.columns + 3) * (nb + rows) : 0;
  // A; L11 and L21, U12, rows being exchanged; buffers of a panel over several devices; y, x
  const double device =
      device_copies * (rows * columns + nb * (panels * panel_rows + 3 * columns) + strips + rows + nb + checksums);
  const double staged_rows = distribution.shape.rows > 1 ? 3 * nb * columns : 0;  // U12, rows in, rows out
  const double strip = std::min(rows * columns, std::max(columns, static_cast<double>(matrix_strip_elements)));
  const double panel = nb * (above + rows + 2 * nb);
  const double copy = parameters.checkpoint_copy ? rows * columns : 0;
  // placeholders for received data: a panel, U12
  const double placeholders = parameters.parts == RunParts::compute ? panel + staged_rows / 3 : 0;
  // two slots for panels and two for U12, each for two ranks of a node at least; the rings that this rank fills, for
  // rows in and out and for its rows of a gathered panel
  double windows = 0;
  if (uses_node_windows(parameters)) {
    const double ring_rows = pivots_across_processes(parameters.pivoting) ? 2 * staged_rows / 3 : 0;
    const double ring_panel = nb * gathered_rows / distribution.shape.rows;
    windows = (distribution.shape.columns > 1 ? panel : 0) + staged_rows / 3 + ring_rows + ring_panel;
  }
  double host = 2 * panel + staged_rows + nb * gathered_rows + strip + placeholders + windows + copy;
  if (parameters.abft) {
    host += static_cast<double>(Checksums<double>::host_elements(distribution, distribution.local_rows(position)));
  }
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

// The bytes of each of a rank's rings if together they hold `elements`. Longer messages go through slice by slice.
template <class Real>
std::size_t ring_bytes(Index elements, GridShape grid) {
  constexpr Index least = Index{1} << 20;
  return static_cast<std::size_t>(std::max(least, elements * static_cast<Index>(sizeof(Real)) / (grid.rows - 1)));
}

}  // namespace

template <class Real>
BroadcastSizes broadcast_sizes(const RunParameters& parameters, GridShape grid, GridPosition at,
                               bool panels_on_device) {
  const Distribution distribution = distribution_of(parameters, grid);
  const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(Real); };
  const Index panel_rows = rows_above_panels(parameters, distribution) + distribution.local_rows(at);
  const Index u12 = distribution.nb * distribution.stored_columns(at);
  BroadcastSizes sizes{.row = bytes(panel_message_elements<Real>(panel_rows, distribution.nb)), .column = bytes(u12)};
  if (grid.rows == 1 || !pivots_across_processes(parameters.pivoting)) return sizes;
  sizes.row_ring = ring_bytes<Real>(2 * u12, grid);
  if (panels_on_device && panel_method(parameters, grid, true) == PanelMethod::gathered) {
    sizes.panel_ring = ring_bytes<Real>(distribution.nb * distribution.n / grid.rows, grid);
  }
  return sizes;
}

template BroadcastSizes broadcast_sizes<float>(const RunParameters&, GridShape, GridPosition, bool);
template BroadcastSizes broadcast_sizes<double>(const RunParameters&, GridShape, GridPosition, bool);

}  // namespace glinpack
