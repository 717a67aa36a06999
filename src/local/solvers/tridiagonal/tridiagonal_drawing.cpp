#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/device/texture_matrix.hpp"
#include "solvers/tridiagonal/tridiagonal_batches.hpp"

namespace glinpack::solvers {
namespace {

/// Equations first_equation ... of systems first_system ..., a system a column, an equation a texel: the coefficients
/// below, on and above the diagonal, and the right-hand side.
struct Tile {
  Tile(Device& device, Index system, Index equation, Index systems, Index equations)
      : first_system(system),
        first_equation(equation),
        given(device, equations, 4 * systems, Packing::p1x4),
        work(device, equations, 4 * systems, Packing::p1x4),
        solution(device, equations, systems, Packing::p1x1) {}

  Index systems() const { return given.width(); }
  Index equations() const { return given.height(); }

  Index first_system;
  Index first_equation;
  TextureMatrix given;
  TextureMatrix work;  // the systems during elimination
  TextureMatrix solution;
};

/// A row of textures below each other: all equations of some systems.
using Strip = std::vector<Tile>;

/// A row of a tile.
struct Place {
  Tile& tile;
  Index row;
};

class DrawnTridiagonal {
 public:
  DrawnTridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile)
      : device_(device),
        operands_(operands),
        n_(operands.systems->n),
        tile_(tile),
        forward_(device.fragment_program("solvers/tridiagonal.frag", "#define BACKWARD 0\n")),
        backward_(device.fragment_program("solvers/tridiagonal.frag", "#define BACKWARD 1\n")),
        divide_(device.fragment_program("solvers/tridiagonal_solution.frag", "")) {
    const Index count = operands.systems->count;
    for (Index system = 0; system < count; system += tile) {
      Strip& strip = strips_.emplace_back();
      for (Index equation = 0; equation < n_; equation += tile) {
        strip.emplace_back(device, system, equation, std::min(tile, count - system), std::min(tile, n_ - equation));
      }
    }
  }

  void load() {
    const TridiagonalSystems<float>& systems = *operands_.systems;
    for_tiles([&](Tile& tile) {
      tile.given.upload_texels([&](float* texels) {
        for_system_blocks(tile.systems(), tile.equations(), [&](Index s, Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const std::size_t k = element(tile, s, i);
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
      for (Strip& strip : strips_) solve(strip);
    });
  }

  void store() {
    const std::span<float> solution = operands_.solution;
    for_tiles([&](Tile& tile) {
      tile.solution.download_texels([&](const float* texels) {
        for_system_blocks(tile.systems(), tile.equations(), [&](Index s, Index begin, Index end) {
          for (Index i = begin; i < end; ++i) solution[element(tile, s, i)] = texels[i * tile.systems() + s];
        });
      });
    });
    const bool finite = std::all_of(solution.begin(), solution.end(), [](float value) { return std::isfinite(value); });
    // a zero pivot makes later elements not finite
    if (!finite) check_pivots(first_zero_pivot());
  }

 private:
  template <class Body>
  void for_tiles(Body body) {
    for (Strip& strip : strips_) {
      for (Tile& tile : strip) body(tile);
    }
  }
  std::size_t element(const Tile& tile, Index s, Index i) const {
    return static_cast<std::size_t>((tile.first_system + s) * n_ + tile.first_equation + i);
  }
  Place place(Strip& strip, Index equation) const {
    return {strip[static_cast<std::size_t>(equation / tile_)], equation % tile_};
  }

  // Brodtkorb 2008, section 4.4. What is drawn and what is read are texels of the same texture: never the same ones,
  // except in backward passes, where a fragment reads its own texel.
  void solve(Strip& strip) {
    copy_first_row(strip.front());
    for (Index i = 1; i < n_; ++i)
      eliminate(forward_, place(strip, i), place(strip, i).tile.given, place(strip, i - 1));
    for (Index i = n_ - 1; i-- > 0;)
      eliminate(backward_, place(strip, i), place(strip, i).tile.work, place(strip, i + 1));
    device_.texture_barrier();
    for (Tile& tile : strip) {
      const gl::Quad all = tile.solution.quad();
      device_.draw(divide_, tile.solution.target(), {tile.work.texture()}, {&all, 1});
    }
  }

  void eliminate(const gl::Program& program, const Place& own, const TextureMatrix& equations, const Place& neighbour) {
    const gl::Quad row{
        0, own.row, own.tile.systems(), 1, {gl::Coordinates::row(0, own.row), gl::Coordinates::row(0, neighbour.row)}};
    device_.texture_barrier();
    device_.draw(program, own.tile.work.target(), {equations.texture(), neighbour.tile.work.texture()}, {&row, 1});
  }

  void copy_first_row(const Tile& tile) {
    device_.context()->make_current();
    device_.fences().note_commands();
    glCopyImageSubData(tile.given.texture(), GL_TEXTURE_2D, 0, 0, 0, 0, tile.work.texture(), GL_TEXTURE_2D, 0, 0, 0, 0,
                       static_cast<GLsizei>(tile.systems()), 1, 1);
  }

  // Green is the pivot after all forward passes. Elements after a zero pivot are NaN.
  std::optional<ZeroPivot> first_zero_pivot() {
    std::optional<ZeroPivot> first;
    for_tiles([&](Tile& tile) {
      tile.work.download_texels([&](const float* texels) {
        for (Index i = 0; i < tile.equations(); ++i) {
          for (Index s = 0; s < tile.systems(); ++s, texels += 4) {
            const ZeroPivot here{tile.first_system + s, tile.first_equation + i};
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
  gl::Program forward_, backward_, divide_;
  std::vector<Strip> strips_;
};

}  // namespace

Steps draw_tridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile) {
  return steps_of(device.clock(), std::make_shared<DrawnTridiagonal>(device, operands, tile));
}

}  // namespace glinpack::solvers
