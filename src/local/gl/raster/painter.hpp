// Draws rectangles of texels whose vertices carry texture coordinates (index-pair streaming).
#pragma once

#include <array>
#include <memory>
#include <span>

#include "device/command_stream.hpp"
#include "gl/program.hpp"
#include "gl/storage.hpp"

namespace glinpack::gl {

/// Texels that a rectangle reads: the one for its first texel, and the steps from texel to texel along its width and
/// from row to row. The rasteriser interpolates them.
struct Coordinates {
  Index x = 0;
  Index y = 0;
  int x_along_width = 0;
  int y_along_width = 0;
  int x_along_height = 0;
  int y_along_height = 0;

  /// The rectangle of the same extents that begins at (x, y).
  static Coordinates rectangle(Index x, Index y) { return {x, y, 1, 0, 0, 1}; }
  /// That rectangle, transposed.
  static Coordinates transposed(Index x, Index y) { return {x, y, 0, 1, 1, 0}; }
  /// Row y in all rows of the rectangle, from x on.
  static Coordinates row(Index x, Index y) { return {x, y, 1, 0, 0, 0}; }
  /// Column x in all columns of the rectangle, from y on.
  static Coordinates column(Index x, Index y) { return {x, y, 0, 0, 0, 1}; }
  /// The rectangle's row r reads texel (x + r, y).
  static Coordinates row_downwards(Index x, Index y) { return {x, y, 0, 0, 1, 0}; }
};

struct Quad {
  Index x = 0;  // of the target
  Index y = 0;
  Index width = 0;
  Index height = 0;
  std::array<Coordinates, 3> coordinates{};
};

struct Target {
  GLuint framebuffer = 0;
  Index width = 0;
  Index height = 0;
};

class Painter {
 public:
  Painter(const std::shared_ptr<Context>& context, Fences& fences);

  /// Binds textures to the shaders' samplers 0, 1, 2.
  void bind(std::initializer_list<GLuint> textures) const;
  void draw(const Program& program, const Target& target, std::span<const Quad> quads);

 private:
  void draw_some(std::span<const Quad> quads);

  static constexpr Index segments = 4;  // of the vertex buffer, filled in turn
  Fences& fences_;
  VertexArrayHandle vertex_array_;
  std::unique_ptr<MappedBuffer<float>> vertices_;
  std::array<Fence, segments> segment_drawn_{};
  Index segment_ = 0;
  Index used_ = 0;  // quads in the segment
};

/// Calls body(first texel, texels, first column) for the ranges of texels that hold columns first ... end - 1 of a
/// RasterMatrix, with the colour mask set to the components of these columns.
template <class Body>
void for_masked_texels(Index first, Index end, Body body) {
  const auto mask = [&](Index texel_column, Index columns_end) {
    std::array<GLboolean, 4> on{};
    for (Index c = 0; c < 4; ++c)
      on[static_cast<std::size_t>(c)] = texel_column + c >= first && texel_column + c < columns_end;
    glColorMask(on[0], on[1], on[2], on[3]);
  };
  for (Index column = first / 4 * 4; column < end;) {
    const bool whole = column >= first && column + 4 <= end;
    const Index texels = whole ? (end - column) / 4 : 1;
    mask(column, end);
    body(1 + column / 4, texels);
    column += 4 * texels;
  }
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

}  // namespace glinpack::gl
