// The draws of the white paper's local algorithm (section 3.2).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "device/shader_source.hpp"
#include "gl/raster/painter.hpp"
#include "gl/raster/raster_matrix.hpp"

namespace glinpack::gl {

/// Rows `top` and `pivot` of a block are exchanged, then row `top` eliminates below it.
struct Step {
  Index top = 0;
  Index pivot = 0;
};

/// The position of the multipliers of a block's rows: the texture, and the texel of row 0; the others follow down the
/// texture or along it.
struct Multipliers {
  GLuint texture = 0;
  Index x = 0;
  Index y = 0;
  bool along = false;
};

class Steps {
 public:
  Steps(const std::shared_ptr<Context>& context, Painter& painter, const ShaderSource& sources,
        const ProgramCache& cache)
      : context_(context), painter_(painter) {
    const auto program = [&](const char* fragment) {
      return Program::drawing(context, sources, cache, "raster/quad.vert", fragment, {});
    };
    step_ = program("raster/step.frag");
    column_program_ = program("raster/column.frag");
    copy_ = program("raster/copy.frag");
    substitute_ = program("raster/substitute.frag");
  }

  /// Call before draw_column on a matrix, and again for another matrix.
  void prepare_column(const RasterMatrix& matrix) {
    if (column_rows_ < matrix.rows()) {
      column_ = make_texture(context_, GL_RGBA32F, 1, matrix.rows());
      column_rows_ = matrix.rows();
    }
    column_targets_[0] = {matrix.front(), make_framebuffer(context_, {matrix.front(), column_.id()})};
    column_targets_[1] = {matrix.back(), make_framebuffer(context_, {matrix.back(), column_.id()})};
  }
  /// Draws the extra column of the block's matrix: the multipliers of column `column` of the block, and the next column
  /// after the step (column.frag), for the rows below step.top, which are exchanged in the same draw. From the front
  /// texture into the back one.
  void draw_column(const DeviceBlock<float>& block, Index column, Step step) {
    std::vector<RowStrip> strips{{step.top + 1, step.top + 1, block.rows - step.top - 1}};
    if (step.pivot != step.top) strips.push_back({step.pivot, step.top, 1});
    draw_column(block, column, strips, raster_matrix_of(block),
                texel(RasterMatrix::texel_of(block.column + column), block.row + step.pivot));
  }
  /// The same for all rows of the block by row `column` of U, whose columns must be aligned to texels as the block's
  /// are.
  void draw_column(const DeviceBlock<float>& block, Index column, const DeviceBlock<float>& u) {
    draw_column(block, column, std::array{RowStrip{0, 0, block.rows}}, raster_matrix_of(u),
                texel(RasterMatrix::texel_of(u.column + column), u.row + column));
  }
  /// The multipliers of the last draw_column().
  Multipliers column_multipliers(const DeviceBlock<float>& block) const { return {column_.id(), 0, block.row, false}; }

  /// A(i, j) <- A(i, j) - multiplier(i) A(top, j) for the block's rows i below step.top and columns j from
  /// `first_column` on, with rows exchanged in the same draw. From the front texture into the back one; then exchanges
  /// them.
  void draw_step(const DeviceBlock<float>& block, Index first_column, Step step, const Multipliers& multipliers) {
    RasterMatrix& matrix = raster_matrix_of(block);
    const Index x = RasterMatrix::texel_of(block.column + first_column);
    const Coordinates top = Coordinates::row(x, block.row + step.pivot);
    const auto rows = [&](Index row, Index source, Index count) {
      return Quad{
          x, block.row + row, 1, count, {Coordinates::rectangle(x, block.row + source), of_row(multipliers, row), top}};
    };
    std::vector<Quad> quads;
    if (step.top + 1 < block.rows) quads.push_back(rows(step.top + 1, step.top + 1, block.rows - step.top - 1));
    if (step.pivot != step.top) quads.push_back(rows(step.pivot, step.top, 1));
    painter_.bind({matrix.front(), multipliers.texture, matrix.front()});
    if (!quads.empty()) draw_eliminations(block, first_column, quads);
    // the new row of U, and the previous one, which only the front texture holds
    std::vector<RowMove> finished{{step.pivot, step.top}};
    if (step.top > 0) finished.push_back({step.top - 1, step.top - 1});
    draw_rows(block, finished);
    matrix.exchange();
  }

  /// A(i, j) <- A(i, j) - multiplier(i) u(row, j) for the whole block. Columns of `u` and of the block must have the
  /// same alignment to texels. Also exchanges the textures.
  void draw_outer_product(const DeviceBlock<float>& block, const Multipliers& multipliers, const DeviceBlock<float>& u,
                          Index row) {
    RasterMatrix& matrix = raster_matrix_of(block);
    const Index x = RasterMatrix::texel_of(block.column);
    const Quad all{x,
                   block.row,
                   1,
                   block.rows,
                   {Coordinates::rectangle(x, block.row), of_row(multipliers, 0),
                    Coordinates::row(RasterMatrix::texel_of(u.column), u.row + row)}};
    painter_.bind({matrix.front(), multipliers.texture, raster_matrix_of(u).front()});
    draw_eliminations(block, 0, {&all, 1});
    matrix.exchange();
  }

  /// Copies the block's rows from `first` on from the front texture to the back one.
  void draw_back(const DeviceBlock<float>& block, Index first) {
    const RasterMatrix& matrix = raster_matrix_of(block);
    painter_.bind({matrix.front()});
    for_masked_texels(block.column, block.column + block.columns, [&](Index x, Index texels) {
      const Index row = block.row + first;
      const Quad rows{x, row, texels, block.rows - first, {Coordinates::rectangle(x, row)}};
      painter_.draw(copy_, back_of(matrix), {&rows, 1});
    });
  }

  /// y <- y - A x; three different matrices. Leaves y's textures equal.
  void substitute(const DeviceBlock<float>& a, const DeviceBlock<float>& x, const DeviceBlock<float>& y) {
    RasterMatrix& matrix = raster_matrix_of(y);
    const Index at = RasterMatrix::texel_of(y.column);
    painter_.bind({matrix.front(), raster_matrix_of(x).front(), raster_matrix_of(a).front()});
    substitute_.set(1, static_cast<GLint>(a.column), static_cast<GLint>(a.column + a.columns));
    substitute_.set(2, static_cast<GLint>(RasterMatrix::texel_of(x.column)), static_cast<GLint>(x.row));
    substitute_.set(3, static_cast<GLint>(x.column % 4), static_cast<GLint>(y.column % 4));
    const Quad rows{at, y.row, 1, y.rows, {Coordinates::rectangle(at, y.row), Coordinates::column(0, a.row)}};
    painter_.draw(substitute_, back_of(matrix), {&rows, 1});
    matrix.exchange();
    draw_back(y, 0);
  }

 private:
  /// `count` rows of a block that are drawn from other rows of it.
  struct RowStrip {
    Index row = 0;
    Index source = 0;
    Index count = 0;
  };
  void draw_column(const DeviceBlock<float>& block, Index column, std::span<const RowStrip> strips,
                   const RasterMatrix& top, Coordinates top_texel) {
    const RasterMatrix& matrix = raster_matrix_of(block);
    const Index absolute = block.column + column;
    const Index next = column + 1 < block.columns ? absolute + 1 : absolute;
    std::vector<Quad> quads;
    for (const RowStrip& strip : strips) {
      const Index source = block.row + strip.source;
      quads.push_back({0,
                       block.row + strip.row,
                       1,
                       strip.count,
                       {Coordinates::column(RasterMatrix::texel_of(absolute), source), top_texel,
                        Coordinates::column(RasterMatrix::texel_of(next), source)}});
    }
    painter_.bind({matrix.front(), 0, top.front()});
    column_program_.set(1, static_cast<GLint>(absolute % 4), static_cast<GLint>(next % 4));
    const ColumnTarget& target = column_targets_[column_targets_[0].texture == matrix.back() ? 0 : 1];
    painter_.draw(column_program_, {target.framebuffer.id(), 1, matrix.rows()}, quads);
  }

  void draw_eliminations(const DeviceBlock<float>& block, Index first_column, std::span<const Quad> rows) {
    const RasterMatrix& matrix = raster_matrix_of(block);
    const Index first = block.column + first_column;
    for_masked_texels(first, block.column + block.columns, [&](Index x, Index texels) {
      std::vector<Quad> quads;
      for (const Quad& row : rows) quads.push_back(cut(row, RasterMatrix::texel_of(first), x, texels));
      painter_.draw(step_, back_of(matrix), quads);
    });
  }
  void draw_rows(const DeviceBlock<float>& block, std::span<const RowMove> rows) {
    const RasterMatrix& matrix = raster_matrix_of(block);
    painter_.bind({matrix.front()});
    for_masked_texels(block.column, block.column + block.columns, [&](Index x, Index texels) {
      std::vector<Quad> quads;
      for (const RowMove& move : rows) {
        quads.push_back({x, block.row + move.to, texels, 1, {Coordinates::rectangle(x, block.row + move.from)}});
      }
      painter_.draw(copy_, back_of(matrix), quads);
    });
  }

  static Target back_of(const RasterMatrix& matrix) { return {matrix.draws_back(), matrix.texels(), matrix.rows()}; }

  static Coordinates of_row(const Multipliers& multipliers, Index row) {
    return multipliers.along ? Coordinates::row_downwards(multipliers.x + row, multipliers.y)
                             : Coordinates::column(multipliers.x, multipliers.y + row);
  }

  static Coordinates texel(Index x, Index y) { return {x, y, 0, 0, 0, 0}; }

  // The part of a quad over the whole width of a block that covers `texels` texels from `texel_x` on.
  static Quad cut(Quad quad, Index first_texel, Index texel_x, Index texels) {
    const Index skipped = texel_x - first_texel;
    quad.x = texel_x;
    quad.width = texels;
    for (Coordinates& c : quad.coordinates) {
      c.x += skipped * c.x_along_width;
      c.y += skipped * c.y_along_width;
    }
    return quad;
  }

  std::shared_ptr<Context> context_;
  Painter& painter_;
  Program step_;
  Program column_program_;
  Program copy_;
  Program substitute_;
  TextureHandle column_;  // copy of the multipliers: a step must not read its own target
  Index column_rows_ = 0;
  struct ColumnTarget {
    GLuint texture = 0;
    FramebufferHandle framebuffer;
  };
  std::array<ColumnTarget, 2> column_targets_;
};

}  // namespace glinpack::gl
