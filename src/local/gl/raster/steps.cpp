#include "gl/raster/steps.hpp"

#include <vector>

namespace glinpack::gl {
namespace {

Target back_of(const RasterMatrix& matrix) { return {matrix.draws_back(), matrix.texels(), matrix.rows()}; }

Coordinates of_row(const Multipliers& multipliers, Index row) {
  return multipliers.along ? Coordinates::row_downwards(multipliers.x + row, multipliers.y)
                           : Coordinates::column(multipliers.x, multipliers.y + row);
}

Coordinates texel(Index x, Index y) { return {x, y, 0, 0, 0, 0}; }

// The part of a quad over the whole width of a block that covers `texels` texels from `texel_x` on.
Quad cut(Quad quad, Index first_texel, Index texel_x, Index texels) {
  const Index skipped = texel_x - first_texel;
  quad.x = texel_x;
  quad.width = texels;
  for (Coordinates& c : quad.coordinates) {
    c.x += skipped * c.x_along_width;
    c.y += skipped * c.y_along_width;
  }
  return quad;
}

}  // namespace

Steps::Steps(const std::shared_ptr<Context>& context, Painter& painter, const ShaderSource& sources,
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

void Steps::prepare_column(const RasterMatrix& matrix) {
  if (column_rows_ < matrix.rows()) {
    column_ = make_texture(context_, GL_RGBA32F, 1, matrix.rows());
    column_rows_ = matrix.rows();
  }
  column_targets_[0] = {matrix.front(), make_framebuffer(context_, {matrix.front(), column_.id()})};
  column_targets_[1] = {matrix.back(), make_framebuffer(context_, {matrix.back(), column_.id()})};
}

void Steps::draw_column(const DeviceBlock<float>& block, Index column, Step step) {
  std::vector<RowStrip> strips{{step.top + 1, step.top + 1, block.rows - step.top - 1}};
  if (step.pivot != step.top) strips.push_back({step.pivot, step.top, 1});
  draw_column(block, column, strips, raster_matrix_of(block),
              texel(RasterMatrix::texel_of(block.column + column), block.row + step.pivot));
}

void Steps::draw_column(const DeviceBlock<float>& block, Index column, const DeviceBlock<float>& u) {
  draw_column(block, column, std::array{RowStrip{0, 0, block.rows}}, raster_matrix_of(u),
              texel(RasterMatrix::texel_of(u.column + column), u.row + column));
}

void Steps::draw_column(const DeviceBlock<float>& block, Index column, std::span<const RowStrip> strips,
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

void Steps::draw_eliminations(const DeviceBlock<float>& block, Index first_column, std::span<const Quad> rows) {
  const RasterMatrix& matrix = raster_matrix_of(block);
  const Index first = block.column + first_column;
  for_masked_texels(first, block.column + block.columns, [&](Index x, Index texels) {
    std::vector<Quad> quads;
    for (const Quad& row : rows) quads.push_back(cut(row, RasterMatrix::texel_of(first), x, texels));
    painter_.draw(step_, back_of(matrix), quads);
  });
}

void Steps::draw_rows(const DeviceBlock<float>& block, std::span<const RowMove> rows) {
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

void Steps::draw_step(const DeviceBlock<float>& block, Index first_column, Step step, const Multipliers& multipliers) {
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

void Steps::draw_outer_product(const DeviceBlock<float>& block, const Multipliers& multipliers,
                               const DeviceBlock<float>& u, Index row) {
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

void Steps::draw_back(const DeviceBlock<float>& block, Index first) {
  const RasterMatrix& matrix = raster_matrix_of(block);
  painter_.bind({matrix.front()});
  for_masked_texels(block.column, block.column + block.columns, [&](Index x, Index texels) {
    const Index row = block.row + first;
    const Quad rows{x, row, texels, block.rows - first, {Coordinates::rectangle(x, row)}};
    painter_.draw(copy_, back_of(matrix), {&rows, 1});
  });
}

void Steps::substitute(const DeviceBlock<float>& a, const DeviceBlock<float>& x, const DeviceBlock<float>& y) {
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

}  // namespace glinpack::gl
