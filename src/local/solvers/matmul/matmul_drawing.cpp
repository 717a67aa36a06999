#include <algorithm>
#include <cmath>
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
        steps(divide_up(of.a.columns, step_depth(with.packing))),
        bytes(with.variant == MatmulVariant::larsen_mcallister_bytes),
        left(on, of.a.rows, steps * step_depth(with.packing), with.packing, format()),
        right(on, steps * step_depth(with.packing), of.b.columns, with.packing, format()),
        program(on.fragment_program("solvers/matmul.frag",
                                    define("PACKING", texel_rows(with.packing) * 10 + texel_columns(with.packing)) +
                                        define("PLANE", has_planes(with.variant)) + define("BYTES", bytes) +
                                        define("ACCUMULATE", has_passes(with.variant)))) {
    const int textures = with.variant == MatmulVariant::multi_pass_two_buffers ? 2 : 1;
    for (int texture = 0; texture < textures; ++texture) {
      sums.emplace_back(on, of.c.rows, of.c.columns, with.packing, format());
    }
  }

  TexelFormat format() const { return bytes ? TexelFormat::bytes : TexelFormat::single; }

  void load() {
    if (bytes) return load_bytes();
    left.upload(product.a);
    right.upload(product.b);
  }
  /// a' = (a / max |a| + 1) / 2, and b' alike: a b = max |a| max |b| (4 a' b' - 2 a' - 2 b' + 1).
  void load_bytes() {
    row_sums.assign(static_cast<std::size_t>(product.a.rows), 0);
    column_sums.assign(static_cast<std::size_t>(product.b.columns), 0);
    const auto mapped = [&](RowMajorView<const float> from, double& largest, auto sum_of) {
      std::vector<float> to(static_cast<std::size_t>(from.rows * from.columns));
      device.clock().measure(Stage::pack, [&] {
        largest = 0;
        for (Index i = 0; i < from.rows; ++i) {
          for (Index j = 0; j < from.columns; ++j) largest = std::max(largest, std::abs(double{from(i, j)}));
        }
        if (largest == 0) largest = 1;
        for (Index i = 0; i < from.rows; ++i) {
          for (Index j = 0; j < from.columns; ++j) {
            const double value = (from(i, j) / largest + 1) / 2;
            to[static_cast<std::size_t>(i * from.columns + j)] = static_cast<float>(value);
            sum_of(i, j) += value;
          }
        }
      });
      return to;
    };
    const std::vector<float> a =
        mapped(product.a, largest_a, [&](Index i, Index) -> double& { return row_sums[static_cast<std::size_t>(i)]; });
    const std::vector<float> b = mapped(
        product.b, largest_b, [&](Index, Index j) -> double& { return column_sums[static_cast<std::size_t>(j)]; });
    left.upload({a.data(), product.a.rows, product.a.columns, product.a.columns});
    right.upload({b.data(), product.b.rows, product.b.columns, product.b.columns});
    program.set(2, static_cast<float>(1 / static_cast<double>(product.a.columns)), 0.0F);
  }
  void compute() {
    device.measure(Stage::compute, [&] {
      if (has_planes(settings.variant)) return draw_planes();
      const bool passes = has_passes(settings.variant);
      const Index length = passes ? settings.pass_length : steps;
      if (passes) sums[current].clear();
      for (Index first = 0; first < steps; first += length) draw(first, std::min(steps, first + length));
    });
  }
  void store() {
    sums[current].download(product.c);
    if (!bytes) return;
    device.clock().measure(Stage::unpack, [&] {
      const auto depth = static_cast<double>(product.a.columns);
      for (Index i = 0; i < product.c.rows; ++i) {
        for (Index j = 0; j < product.c.columns; ++j) {
          const double corrections =
              2 * (row_sums[static_cast<std::size_t>(i)] + column_sums[static_cast<std::size_t>(j)]) - depth;
          product.c(i, j) = static_cast<float>(largest_a * largest_b * (4 * depth * product.c(i, j) - corrections));
        }
      }
    });
  }

  void draw(Index first, Index end) {
    const GLuint added = has_passes(settings.variant) ? sums[current].texture() : 0;
    current = (current + 1) % sums.size();
    if (settings.variant == MatmulVariant::multi_pass) device.texture_barrier();
    program.set(1, static_cast<GLint>(first), static_cast<GLint>(end));
    const TextureMatrix& target = sums[current];
    const Index side =
        settings.variant == MatmulVariant::many_quads ? settings.quad_side : std::max(target.width(), target.height());
    std::vector<gl::Quad> quads;
    for (Index y = 0; y < target.height(); y += side) {
      for (Index x = 0; x < target.width(); x += side) {
        quads.push_back({x, y, std::min(side, target.width() - x), std::min(side, target.height() - y), {}});
      }
    }
    device.draw(program, target.target(), {left.texture(), right.texture(), added}, quads);
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
  bool bytes;
  double largest_a = 1, largest_b = 1;
  std::vector<double> row_sums, column_sums;  // of a' and b'
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
