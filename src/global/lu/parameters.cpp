#include "lu/parameters.hpp"

#include "lu/panel/panels.hpp"

namespace glinpack {

double hpl_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 1.5);
}

double factorization_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 0.5);
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
