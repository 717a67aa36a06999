#include "solvers/tridiagonal/tridiagonal.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "solvers/tridiagonal/tridiagonal_variants.hpp"

namespace glinpack::solvers {
namespace {

constexpr std::array<std::string_view, all_tridiagonal_variants.size()> names{"raster", "compute", "cyclic-reduction"};

Index tile_of(const DeviceDescription& device, const TridiagonalSettings& settings) {
  return std::min(device.texture_side, settings.tile.value_or(device.texture_side));
}

bool takes_pieces(const DeviceDescription& device, const TridiagonalSettings& settings) {
  return settings.variant == TridiagonalVariant::compute &&
         (settings.share == Share::sixteen || (settings.share == Share::automatic && !device.software));
}

// Of all arrays or textures, per element.
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

std::string_view name_of(TridiagonalVariant variant) { return names[static_cast<std::size_t>(variant)]; }

std::string describe(const DeviceDescription& device, const TridiagonalSettings& settings, Index count, Index n) {
  if (settings.variant == TridiagonalVariant::cyclic_reduction) {
    const Index steps = reduction_steps(settings, count, n);
    return fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
  }
  if (settings.variant == TridiagonalVariant::compute) return takes_pieces(device, settings) ? "pieces of 16" : "whole";
  const Index tile = tile_of(device, settings);
  const Index tiles = ((count + tile - 1) / tile) * ((n + tile - 1) / tile);
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
  if (device.free_memory <= 0 || needed <= static_cast<double>(device.free_memory)) return {};
  return fmt::format(
      "{} systems of {} equations take {:.1f} GiB on the device, but {} has {:.1f} GiB free: use fewer "
      "systems or a smaller N",
      count, n, needed / (1024.0 * 1024 * 1024), device.renderer, gibibytes(device.free_memory));
}

namespace {

/// Checks the extents of systems for a variant.
template <class Real>
class CheckedTridiagonal final : public TridiagonalSolver<Real> {
 public:
  CheckedTridiagonal(std::unique_ptr<TridiagonalSolver<Real>> solver, Index count, Index n)
      : solver_(std::move(solver)), count_(count), n_(n) {}

  void load(const TridiagonalSystems<Real>& systems) override {
    if (systems.count != count_ || systems.n != n_) {
      throw std::invalid_argument(
          fmt::format("{} systems of {} equations instead of {} of {}", systems.count, systems.n, count_, n_));
    }
    for (const std::vector<Real>* elements : {&systems.lower, &systems.diagonal, &systems.upper, &systems.right}) {
      check(elements->size());
    }
    solver_->load(systems);
  }
  void compute() override { solver_->compute(); }
  std::optional<ZeroPivot> store(std::span<Real> solution) override {
    check(solution.size());
    return solver_->store(solution);
  }

 private:
  void check(std::size_t elements) const {
    if (static_cast<Index>(elements) == count_ * n_) return;
    throw std::invalid_argument(
        fmt::format("{} elements instead of those of {} systems of {} equations", elements, count_, n_));
  }

  std::unique_ptr<TridiagonalSolver<Real>> solver_;
  Index count_;
  Index n_;
};

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_unchecked(Device& device, Index count, Index n,
                                                        const TridiagonalSettings& settings) {
  if (settings.variant == TridiagonalVariant::cyclic_reduction) {
    return make_cyclic_reduction<Real>(device, count, n, reduction_steps(settings, count, n), settings);
  }
  if (settings.variant == TridiagonalVariant::compute) {
    return takes_pieces(device.description(), settings) ? make_pieces<Real>(device, count, n, settings)
                                                        : make_whole_systems<Real>(device, count, n, settings);
  }
  if constexpr (std::is_same_v<Real, float>) {
    return make_drawn_tridiagonal(device, count, n, tile_of(device.description(), settings));
  } else {
    throw std::invalid_argument("raster computes in single precision only");
  }
}

}  // namespace

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_tridiagonal_solver(Device& device, Index count, Index n,
                                                                 const TridiagonalSettings& settings) {
  if (count < 1 || n < 1)
    throw std::invalid_argument("there is nothing to solve: no system, or none that has an equation");
  const std::string obstacle = tridiagonal_obstacle(device.description(), settings, precision_of<Real>, count, n);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  return std::make_unique<CheckedTridiagonal<Real>>(make_unchecked<Real>(device, count, n, settings), count, n);
}

template std::unique_ptr<TridiagonalSolver<float>> make_tridiagonal_solver(Device&, Index, Index,
                                                                           const TridiagonalSettings&);
template std::unique_ptr<TridiagonalSolver<double>> make_tridiagonal_solver(Device&, Index, Index,
                                                                            const TridiagonalSettings&);

}  // namespace glinpack::solvers
