// The drawings that the white paper's local algorithm is made of (section 3.2).
#pragma once

#include <array>
#include <memory>
#include <span>

#include "local/gl/raster/painter.hpp"
#include "local/gl/raster/raster_matrix.hpp"
#include "local/gl/shader_source.hpp"

namespace glinpack::gl {

/// Rows `top` and `pivot` of a block change places, then row `top` is used to eliminate below it.
struct Step {
  Index top = 0;
  Index pivot = 0;
};

/// Where the multipliers of a block's rows are: the texture, and the texel that belongs to row 0; the others follow
/// down the texture or along it.
struct Multipliers {
  GLuint texture = 0;
  Index x = 0;
  Index y = 0;
  bool along = false;
};

class Steps {
 public:
  /// `computed_coordinates`: fragments compute the addresses that otherwise come from the vertices; for comparison.
  Steps(const std::shared_ptr<Context>& context, Painter& painter, const ShaderSource& sources,
        const ProgramCache& cache, bool computed_coordinates);

  /// Before draw_column on a matrix, and again when it is another one.
  void prepare_column(const RasterMatrix& matrix);
  /// The extra column of the block's matrix: the multipliers of column `column` of the block, and the next column as it
  /// will be (column.frag), for the rows below step.top, which are exchanged meanwhile. From the front texture into the
  /// back one.
  void draw_column(const DeviceBlock<float>& block, Index column, Step step);
  /// The same for all rows of the block by row `column` of U, whose columns must lie in their texels as the block's do.
  void draw_column(const DeviceBlock<float>& block, Index column, const DeviceBlock<float>& u);
  /// What draw_column has drawn last.
  Multipliers column_multipliers(const DeviceBlock<float>& block) const { return {column_.id(), 0, block.row, false}; }

  /// A(i, j) <- A(i, j) - multiplier(i) A(top, j) for the block's rows i below step.top and columns j from
  /// `first_column` on, rows exchanged in the same drawing; from the front texture into the back one, which then
  /// becomes the front one.
  void draw_step(const DeviceBlock<float>& block, Index first_column, Step step, const Multipliers& multipliers);
  /// A(i, j) <- A(i, j) - multiplier(i) u(row, j) for all the block. Columns of `u` and of the block must lie in their
  /// texels alike. Exchanges the textures, too.
  void draw_outer_product(const DeviceBlock<float>& block, const Multipliers& multipliers, const DeviceBlock<float>& u,
                          Index row);
  /// The back texture made equal to the front one in the block's rows from `first` on.
  void draw_back(const DeviceBlock<float>& block, Index first);

  /// y <- y - A x; three different matrices. Leaves y's textures equal.
  void substitute(const DeviceBlock<float>& a, const DeviceBlock<float>& x, const DeviceBlock<float>& y);

 private:
  /// `count` rows of a block that are drawn from as many others of it.
  struct RowStrip {
    Index row = 0;
    Index source = 0;
    Index count = 0;
  };
  void draw_column(const DeviceBlock<float>& block, Index column, std::span<const RowStrip> strips,
                   const RasterMatrix& top, Coordinates top_texel);
  void draw_eliminations(const DeviceBlock<float>& block, Index first_column, std::span<const Quad> rows);
  void draw_rows(const DeviceBlock<float>& block, std::span<const RowMove> rows);

  std::shared_ptr<Context> context_;
  Painter& painter_;
  bool computed_coordinates_;
  Program step_;
  Program column_program_;
  Program copy_;
  Program substitute_;
  TextureHandle column_;  // the multipliers once more: what a step reads must not be what it draws
  Index column_rows_ = 0;
  struct ColumnTarget {
    GLuint texture = 0;
    FramebufferHandle framebuffer;
  };
  std::array<ColumnTarget, 2> column_targets_;
};

}  // namespace glinpack::gl
