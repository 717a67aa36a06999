// The white paper's local algorithm (section 3.2). Concurrent work of device and host for column j of the pivot's
// panel:
//
//   device: extra column j | read it back | reduce the rest, rows exchanged | read row j back | extra column j + 1
//   host:                                 | look for pivot j + 1 in it       |
//
// The host never waits for an idle device: it waits for the fence after the column, and for the rows at the end.
#include <algorithm>
#include <utility>
#include <vector>

#include "gl/raster/raster_backend_class.hpp"

namespace glinpack::gl {
namespace {

constexpr Index channels = 4;  // of a texel
constexpr Index red = 0;
constexpr Index blue = 2;

double count(Index extent) { return static_cast<double>(extent); }

// A panel's interchanges also apply to earlier columns of L. This undoes the later ones: multipliers as they were in
// their step.
void undo_later_interchanges(RowMajorView<float> l_transposed, std::span<const Index> pivots) {
  const auto steps = static_cast<Index>(pivots.size());
  for (Index k = 0; k < steps; ++k) {
    for (Index j = steps - 1; j > k; --j) {
      std::swap(l_transposed(k, j), l_transposed(k, pivots[static_cast<std::size_t>(j)]));
    }
  }
}

}  // namespace

void RasterBackend::reserve(std::unique_ptr<MappedBuffer<float>>& buffer, Index elements) {
  if (buffer && buffer->size() >= elements) return;
  buffer.reset();
  buffer = MappedBuffer<float>::create(context(), elements);
}

RasterBackend::ReadBack RasterBackend::read_back(GLuint framebuffer, Index x, Index y, Index width, Index height,
                                                 MappedBuffer<float>& buffer, Index offset) {
  const Index bytes = width * height * channels * static_cast<Index>(sizeof(float));
  operation(Phase::transfer, 0, bytes, [&] {
    // a driver without asynchronous read-back, such as Mesa's llvmpipe, waits here
    const auto scope = timeline().scope(Lane::cpu, Phase::wait);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer.id());
    glReadPixels(static_cast<GLint>(x), static_cast<GLint>(y), static_cast<GLsizei>(width),
                 static_cast<GLsizei>(height), GL_RGBA, GL_FLOAT,
                 reinterpret_cast<void*>(offset * static_cast<Index>(sizeof(float))));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  });
  return {buffer.data() + offset, fences().take()};
}

RasterBackend::ReadBack RasterBackend::read_column(const DeviceBlock<float>& a, Index first) {
  reserve(columns_read_, a.rows * channels);
  return read_back(raster_matrix_of(a).draws_back(), 0, a.row + first, 1, a.rows - first, *columns_read_, 0);
}

RasterBackend::ReadBack RasterBackend::read_row(const DeviceBlock<float>& a, Index row, Index slot) {
  const Index first = RasterMatrix::texel_of(a.column);
  const Index texels = RasterMatrix::texel_of(a.column + a.columns - 1) + 1 - first;
  return read_back(raster_matrix_of(a).draws_front(), first, a.row + row, texels, 1, *rows_read_,
                   slot * texels * channels);
}

std::optional<Index> RasterBackend::pivot_rows(DeviceBlock<float> a, HostBlock<float> panel_transposed,
                                               HostBlock<float> u, std::span<Index> pivots) {
  begin();
  const auto width = static_cast<Index>(pivots.size());
  const RowMajorView<float> panel = panel_transposed.view();
  steps_.prepare_column(raster_matrix_of(a));
  reserve(rows_read_, width * (a.columns + 2 * channels));
  std::vector<ReadBack> rows(pivots.size());

  // reads the first column itself; later ones are in the extra column
  reserve(columns_read_, a.rows * channels);
  ReadBack column = read_back(raster_matrix_of(a).draws_front(), RasterMatrix::texel_of(a.column), a.row, 1, a.rows,
                              *columns_read_, 0);
  wait(column.there);
  std::vector<float> candidates(static_cast<std::size_t>(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    candidates[static_cast<std::size_t>(i)] = column.texels[i * channels + a.column % channels];
  }

  for (Index j = 0; j < width; ++j) {
    Step step{j, j};
    {
      const auto scope = timeline().scope(Lane::cpu, Phase::panel);
      const Index largest = this->panel().find_pivot(candidates).row;
      if (candidates[static_cast<std::size_t>(largest)] == 0) return j;
      step.pivot = j + largest;
      pivots[static_cast<std::size_t>(j)] = step.pivot;
      for (Index k = 0; k < j; ++k) std::swap(panel(k, j), panel(k, step.pivot));
    }
    const Index below = a.rows - j - 1;
    if (below > 0) {
      operation(Phase::panel, 3 * count(below), 0, [&] { steps_.draw_column(a, j, step); });
      column = read_column(a, j + 1);
    }
    operation(Phase::reduce, 2 * count(below) * count(a.columns - j - 1), 0,
              [&] { steps_.draw_step(a, j + 1, step, steps_.column_multipliers(a)); });
    glFlush();
    wait(column.there);
    {
      // while the device reduces
      const auto scope = timeline().scope(Lane::cpu, Phase::panel);
      candidates.resize(static_cast<std::size_t>(below));
      for (Index i = 0; i < below; ++i) {
        panel(j, j + 1 + i) = column.texels[i * channels + red];
        candidates[static_cast<std::size_t>(i)] = column.texels[i * channels + blue];
      }
    }
    rows[static_cast<std::size_t>(j)] = read_row(a, j, j);
  }
  wait(rows.back().there);
  for (Index j = 0; j < width; ++j) {
    const float* row = rows[static_cast<std::size_t>(j)].texels + a.column % channels;
    for (Index k = j; k < width; ++k) panel(k, j) = row[k];
    std::copy_n(row + width, u.columns, u.view().row(j));
  }
  write_panel(panel_transposed, a.block(0, 0, a.rows, width));
  operation(Phase::transfer, 0, 0, [&] { steps_.draw_back(a, width - 1); });
  return std::nullopt;
}

void RasterBackend::normalize_rows(HostBlock<float> panel_transposed, std::span<const Index> pivots,
                                   DeviceBlock<float> a, HostBlock<float> u) {
  if (a.empty()) return;
  begin();
  const auto width = static_cast<Index>(pivots.size());
  reserve(rows_read_, width * (a.columns + 2 * channels));
  undo_later_interchanges(panel_transposed.view(), pivots);
  operation(Phase::transfer, 0, bytes_of(panel_transposed), [&] { movement_.upload(panel_transposed, l_); });
  std::vector<ReadBack> rows;
  for (Index j = 0; j < width; ++j) {
    operation(Phase::normalize, 2 * count(a.rows - j - 1) * count(a.columns), 0, [&] {
      steps_.draw_step(a, 0, {j, pivots[static_cast<std::size_t>(j)]}, column_of_l(j));
    });
    rows.push_back(read_row(a, j, j));
  }
  operation(Phase::transfer, 0, 0, [&] { steps_.draw_back(a, width - 1); });
  wait(rows.back().there);
  for (Index j = 0; j < width; ++j) {
    std::copy_n(rows[static_cast<std::size_t>(j)].texels + a.column % channels, u.columns, u.view().row(j));
  }
}

void RasterBackend::eliminate_rows(ColumnMajorView<const float> u11, DeviceBlock<float> a21,
                                   HostBlock<float> panel_transposed) {
  if (a21.empty()) return;
  begin();
  const Index width = a21.columns;
  reserve(rows_read_, width * width);
  const HostBlock<float> u_host{rows_read_.get(), 0, width, width, width};
  for (Index i = 0; i < width; ++i) {
    for (Index j = 0; j < width; ++j) u_host.view()(i, j) = u11(i, j);
  }
  const DeviceBlock<float> u = scratch(width, width, a21);
  operation(Phase::transfer, 0, bytes_of(u_host), [&] { movement_.upload(u_host, u); });
  steps_.prepare_column(raster_matrix_of(a21));
  for (Index j = 0; j < width; ++j) {
    operation(Phase::eliminate, 3 * count(a21.rows), 0, [&] { steps_.draw_column(a21, j, u); });
    const ReadBack column = read_column(a21, 0);
    const Index right = width - j - 1;
    if (right > 0) {
      operation(Phase::eliminate, 2 * count(a21.rows) * count(right), 0, [&] {
        steps_.draw_outer_product(a21.block(0, j + 1, a21.rows, right), steps_.column_multipliers(a21),
                                  u.block(0, j + 1, width, right), j);
      });
      glFlush();
    }
    wait(column.there);
    const auto scope = timeline().scope(Lane::cpu, Phase::eliminate);
    for (Index i = 0; i < a21.rows; ++i) panel_transposed.view()(j, i) = column.texels[i * channels + red];
  }
  write_panel(panel_transposed, a21);
}

Fence RasterBackend::reduce_rows(HostBlock<float> l21_transposed, HostBlock<float> u12, DeviceBlock<float> a22) {
  if (a22.empty() || u12.empty()) return {};
  begin();
  const DeviceBlock<float> u = scratch(u12.rows, u12.columns, a22);
  operation(Phase::transfer, 0, bytes_of(l21_transposed) + bytes_of(u12), [&] {
    movement_.upload(l21_transposed, l_);
    movement_.upload(u12, u);
  });
  operation(Phase::reduce, 2 * count(a22.rows) * count(a22.columns) * count(u12.rows), 0,
            [&] { eliminate_with(u, a22); });
  glFlush();
  return fences().take();
}

void RasterBackend::write_panel(const HostBlock<float>& panel_transposed, const DeviceBlock<float>& panel) {
  operation(Phase::transfer, 0, bytes_of(panel_transposed), [&] { movement_.upload(panel_transposed, l_); });
  const Fence uploaded = fences().take();
  operation(Phase::transfer, 0, 0, [&] { movement_.pack_transposed(l_, panel); });
  wait(uploaded);  // now the host may overwrite the host block
}

}  // namespace glinpack::gl
