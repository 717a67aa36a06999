#include "solvers/tridiagonal/tridiagonal.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "solvers/tridiagonal/tridiagonal_batches.hpp"

namespace glinpack::solvers {
namespace {

Index tile_of(const DeviceDescription& device, const TridiagonalSettings& settings) {
  return std::min(device.texture_side, settings.tile.value_or(device.texture_side));
}

bool takes_pieces(const DeviceDescription& device, const TridiagonalSettings& settings) {
  return settings.variant == TridiagonalVariant::compute &&
         (settings.share == Share::sixteen || (settings.share == Share::automatic && !device.software));
}

// For all arrays or textures, per element.
double bytes_of_an_element(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision) {
  constexpr double two_textures_of_four_and_one = 4 * (4 + 4 + 1);
  if (settings.variant == TridiagonalVariant::raster) return two_textures_of_four_and_one;
  const double given_and_solution = 5;
  const double more = settings.variant == TridiagonalVariant::cyclic_reduction ? 6
                      : takes_pieces(device, settings)                         ? 0.6
                                                                               : 1;
  return (given_and_solution + more) * static_cast<double>(factor_bytes(precision));
}

}  // namespace

std::string describe(const DeviceDescription& device, const TridiagonalSettings& settings, Index count, Index n) {
  if (settings.variant == TridiagonalVariant::cyclic_reduction) {
    const Index steps = reduction_steps(settings, count, n);
    return fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
  }
  if (settings.variant == TridiagonalVariant::compute) return takes_pieces(device, settings) ? "pieces of 16" : "whole";
  const Index tile = tile_of(device, settings);
  const Index tiles = divide_up(count, tile) * divide_up(n, tile);
  return fmt::format("{} tile{}", tiles, tiles == 1 ? "" : "s");
}

std::string tridiagonal_obstacle(const DeviceDescription& device, const TridiagonalSettings& settings,
                                 Precision precision, Index count, Index n) {
  if (settings.variant != TridiagonalVariant::raster &&
      systems_of_a_batch(device, settings, precision, round_up(n, piece_equations)) < 1) {
    return fmt::format(
        "a system of {} equations takes {:.2f} GiB an array, but {} has storage blocks of {:.2f} GiB: use a "
        "smaller N",
        n, gibibytes(n * static_cast<Index>(factor_bytes(precision))), device.renderer,
        gibibytes(device.storage_block));
  }
  const double needed =
      bytes_of_an_element(device, settings, precision) * static_cast<double>(count) * static_cast<double>(n);
  return memory_obstacle(device, fmt::format("{} systems of {} equations take", count, n), needed,
                         "use fewer systems or a smaller N");
}

template <class Real>
Steps make_tridiagonal(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings) {
  const TridiagonalSystems<Real>& systems = *operands.systems;
  if (systems.count < 1 || systems.n < 1) {
    throw std::invalid_argument("there is nothing to solve: no system, or none that has an equation");
  }
  for (const std::size_t elements : {systems.lower.size(), systems.diagonal.size(), systems.upper.size(),
                                     systems.right.size(), operands.solution.size()}) {
    if (static_cast<Index>(elements) == systems.count * systems.n) continue;
    throw std::invalid_argument(
        fmt::format("{} elements instead of those of {} systems of {} equations", elements, systems.count, systems.n));
  }
  const DeviceDescription& description = device.description();
  const std::string obstacle =
      tridiagonal_obstacle(description, settings, precision_of<Real>, systems.count, systems.n);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  if (settings.variant != TridiagonalVariant::raster) {
    return make_batched<Real>(device, operands, settings, takes_pieces(description, settings));
  }
  if constexpr (std::is_same_v<Real, float>) return draw_tridiagonal(device, operands, tile_of(description, settings));
  throw std::invalid_argument("raster computes in single precision only");
}

template Steps make_tridiagonal(Device&, const TridiagonalOperands<float>&, const TridiagonalSettings&);
template Steps make_tridiagonal(Device&, const TridiagonalOperands<double>&, const TridiagonalSettings&);

}  // namespace glinpack::solvers
