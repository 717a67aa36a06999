#include <algorithm>
#include <string>
#include <vector>

#include "solvers/device/texture_matrix.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::solvers {
namespace {

/// A and B in textures, C drawn. With passes, the sums are in one texture, which is read and drawn, each fragment its
/// own texel; or in two that alternate.
struct DrawnProduct {
  DrawnProduct(Device& on, const Product<float>& of, const MatmulSettings& with)
      : device(on),
        product(of),
        settings(with),
        steps(round_up(of.a.columns, step_depth(with.packing)) / step_depth(with.packing)),
        left(on, of.a.rows, steps * step_depth(with.packing), with.packing),
        right(on, steps * step_depth(with.packing), of.b.columns, with.packing),
        program(on.fragment_program("solvers/matmul.frag",
                                    definition("PACKING", texel_rows(with.packing) * 10 + texel_columns(with.packing)) +
                                        definition("PLANE", with.variant == MatmulVariant::larsen_mcallister) +
                                        definition("ACCUMULATE", has_passes(with.variant)))) {
    const int textures = with.variant == MatmulVariant::multi_pass_two_buffers ? 2 : 1;
    for (int texture = 0; texture < textures; ++texture) sums.emplace_back(on, of.c.rows, of.c.columns, with.packing);
  }

  void load() {
    left.upload(product.a);
    right.upload(product.b);
  }
  void compute() {
    device.measure(Stage::compute, [&] {
      if (settings.variant == MatmulVariant::larsen_mcallister) return draw_planes();
      const bool passes = has_passes(settings.variant);
      const Index length = passes ? settings.pass_length : steps;
      if (passes) sums[current].clear();
      for (Index first = 0; first < steps; first += length) draw(first, std::min(steps, first + length));
    });
  }
  void store() { sums[current].download(product.c); }

  void draw(Index first, Index end) {
    const GLuint added = has_passes(settings.variant) ? sums[current].texture() : 0;
    current = (current + 1) % sums.size();
    if (settings.variant == MatmulVariant::multi_pass) device.texture_barrier();
    program.set(1, static_cast<GLint>(first), static_cast<GLint>(end));
    const gl::Quad all = sums[current].quad();
    device.draw(program, sums[current].target(), {left.texture(), right.texture(), added}, {&all, 1});
  }

  /// Processor (i, j, k) of the cube has A(i, k) and B(k, j); the planes of equal k are rectangles over each other. A
  /// plane is a column of A's texels and a row of B's, the first of its step.
  void draw_planes() {
    std::vector<gl::Quad> planes;
    for (Index k = 0; k < steps; ++k) {
      planes.push_back(sums[0].quad({gl::Coordinates::column(k * (left.width() / steps), 0),
                                     gl::Coordinates::row(0, k * (right.height() / steps))}));
    }
    sums[0].clear();
    device.draw_added(program, sums[0].target(), {left.texture(), right.texture()}, planes);
  }

  Device& device;
  const Product<float>& product;
  MatmulSettings settings;
  Index steps;
  TextureMatrix left, right;
  std::vector<TextureMatrix> sums;
  std::size_t current = 0;
  gl::Program program;
};

}  // namespace

Steps draw_product(Device& device, const Product<float>& product, const MatmulSettings& settings) {
  return steps_of(device.clock(), std::make_shared<DrawnProduct>(device, product, settings));
}

}  // namespace glinpack::solvers
