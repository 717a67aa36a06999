#include "solvers/tridiagonal/tridiagonal_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/tridiagonal/tridiagonal_batches.hpp"

namespace glinpack::solvers {
namespace {

/// A row of a tile.
struct Place {
  TridiagonalTile& tile;
  Index row;
};

class DrawnTridiagonal {
 public:
  DrawnTridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile)
      : device_(device), operands_(operands), n_(operands.systems->n), tile_(tile), passes_(device) {
    const Index count = operands.systems->count;
    for (Index system = 0; system < count; system += tile) {
      std::vector<TridiagonalTile>& strip = strips_.emplace_back();
      for (Index equation = 0; equation < n_; equation += tile) {
        strip.emplace_back(device, std::min(tile, count - system), std::min(tile, n_ - equation));
      }
    }
  }

  void load() {
    const TridiagonalSystems<float>& systems = *operands_.systems;
    for_tiles([&](TridiagonalTile& tile, Index first_system, Index first_equation) {
      tile.given.upload_texels([&](float* texels) {
        for_system_blocks(tile.systems(), tile.equations(), [&](Index s, Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const auto k = static_cast<std::size_t>((first_system + s) * n_ + first_equation + i);
            float* const texel = texels + 4 * (i * tile.systems() + s);
            texel[0] = systems.lower[k];
            texel[1] = systems.diagonal[k];
            texel[2] = systems.upper[k];
            texel[3] = systems.right[k];
          }
        });
      });
    });
  }

  void compute() {
    device_.measure(Stage::compute, [&] {
      for (std::vector<TridiagonalTile>& strip : strips_) passes_.solve(strip);
    });
  }

  void store() {
    const std::span<float> solution = operands_.solution;
    for_tiles([&](TridiagonalTile& tile, Index first_system, Index first_equation) {
      tile.solution.download_texels([&](const float* texels) {
        for_system_blocks(tile.systems(), tile.equations(), [&](Index s, Index begin, Index end) {
          float* const x = solution.data() + (first_system + s) * n_ + first_equation;
          for (Index i = begin; i < end; ++i) x[i] = texels[i * tile.systems() + s];
        });
      });
    });
    const bool finite = std::all_of(solution.begin(), solution.end(), [](float value) { return std::isfinite(value); });
    // a zero pivot makes later elements not finite
    if (!finite) check_pivots(first_zero_pivot());
  }

 private:
  /// body(tile, its first system, its first equation)
  template <class Body>
  void for_tiles(Body body) {
    for (std::size_t i = 0; i < strips_.size(); ++i) {
      for (std::size_t j = 0; j < strips_[i].size(); ++j) {
        body(strips_[i][j], static_cast<Index>(i) * tile_, static_cast<Index>(j) * tile_);
      }
    }
  }

  std::optional<ZeroPivot> first_zero_pivot() {
    std::optional<ZeroPivot> first;
    for_tiles([&](TridiagonalTile& tile, Index first_system, Index first_equation) {
      tile.work.download_texels([&](const float* texels) {
        for (Index i = 0; i < tile.equations(); ++i) {
          for (Index s = 0; s < tile.systems(); ++s, texels += 4) {
            const ZeroPivot here{first_system + s, first_equation + i};
            if (texels[1] == 0.0F && (!first || here.system < first->system)) first = here;
          }
        }
      });
    });
    return first;
  }

  Device& device_;
  const TridiagonalOperands<float>& operands_;
  Index n_;
  Index tile_;
  TridiagonalPasses passes_;
  std::vector<std::vector<TridiagonalTile>> strips_;
};

}  // namespace

TridiagonalPasses::TridiagonalPasses(Device& device)
    : device_(device),
      forward_(device.fragment_program("solvers/tridiagonal.frag", "#define BACKWARD 0\n")),
      backward_(device.fragment_program("solvers/tridiagonal.frag", "#define BACKWARD 1\n")),
      divide_(device.fragment_program("solvers/tridiagonal_solution.frag", "")) {}

// What is drawn and what is read are texels of the same texture: never the same ones, except in backward passes, where
// a fragment reads its own texel.
void TridiagonalPasses::solve(std::span<TridiagonalTile> strip) const {
  const Index height = strip.front().equations();
  Index n = 0;
  for (const TridiagonalTile& tile : strip) n += tile.equations();
  const auto at = [&](Index equation) {
    return Place{strip[static_cast<std::size_t>(equation / height)], equation % height};
  };
  const auto eliminate = [&](const gl::Program& program, const Place& own, const TextureMatrix& equations,
                             const Place& neighbour) {
    const gl::Quad row{
        0, own.row, own.tile.systems(), 1, {gl::Coordinates::row(0, own.row), gl::Coordinates::row(0, neighbour.row)}};
    device_.texture_barrier();
    device_.draw(program, own.tile.work.target(), {equations.texture(), neighbour.tile.work.texture()}, {&row, 1});
  };
  strip.front().given.copy_texels(0, 0, strip.front().work, 0, 0, strip.front().systems(), 1);
  for (Index i = 1; i < n; ++i) eliminate(forward_, at(i), at(i).tile.given, at(i - 1));
  for (Index i = n - 1; i-- > 0;) eliminate(backward_, at(i), at(i).tile.work, at(i + 1));
  device_.texture_barrier();
  for (TridiagonalTile& tile : strip) {
    const gl::Quad all = tile.solution.quad();
    device_.draw(divide_, tile.solution.target(), {tile.work.texture()}, {&all, 1});
  }
}

Steps draw_tridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile) {
  return steps_of(device.clock(), std::make_shared<DrawnTridiagonal>(device, operands, tile));
}

}  // namespace glinpack::solvers
