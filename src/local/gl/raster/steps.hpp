// The draws of the white paper's local algorithm (section 3.2).
#pragma once

#include <array>
#include <memory>
#include <span>

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
        const ProgramCache& cache);

  /// Call before draw_column on a matrix, and again for another matrix.
  void prepare_column(const RasterMatrix& matrix);
  /// Draws the extra column of the block's matrix: the multipliers of column `column` of the block, and the next column
  /// after the step (column.frag), for the rows below step.top, which are exchanged in the same draw. From the front
  /// texture into the back one.
  void draw_column(const DeviceBlock<float>& block, Index column, Step step);
  /// The same for all rows of the block by row `column` of U, whose columns must be aligned to texels as the block's
  /// are.
  void draw_column(const DeviceBlock<float>& block, Index column, const DeviceBlock<float>& u);
  /// The multipliers of the last draw_column().
  Multipliers column_multipliers(const DeviceBlock<float>& block) const { return {column_.id(), 0, block.row, false}; }

  /// A(i, j) <- A(i, j) - multiplier(i) A(top, j) for the block's rows i below step.top and columns j from
  /// `first_column` on, with rows exchanged in the same draw. From the front texture into the back one; then exchanges
  /// them.
  void draw_step(const DeviceBlock<float>& block, Index first_column, Step step, const Multipliers& multipliers);
  /// A(i, j) <- A(i, j) - multiplier(i) u(row, j) for the whole block. Columns of `u` and of the block must have the
  /// same alignment to texels. Also exchanges the textures.
  void draw_outer_product(const DeviceBlock<float>& block, const Multipliers& multipliers, const DeviceBlock<float>& u,
                          Index row);
  /// Copies the block's rows from `first` on from the front texture to the back one.
  void draw_back(const DeviceBlock<float>& block, Index first);

  /// y <- y - A x; three different matrices. Leaves y's textures equal.
  void substitute(const DeviceBlock<float>& a, const DeviceBlock<float>& x, const DeviceBlock<float>& y);

 private:
  /// `count` rows of a block that are drawn from other rows of it.
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
