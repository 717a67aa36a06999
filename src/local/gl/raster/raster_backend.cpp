#include "gl/raster/raster_backend.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/timeline.hpp"
#include "gl/raster/raster_backend_class.hpp"

namespace glinpack {
namespace gl {

RasterBackend::RasterBackend(std::shared_ptr<Context> opened, const BackendOptions& options, Timeline& timeline)
    : compute::DeviceBackend<float>(opened, gl_raster_record.name, options, timeline, OperationClock::Source::fence),
      context_(std::move(opened)),
      painter_(context(), fences()),
      sources_(options.value("shader-dir"), "raster/"),
      movement_(context(), painter_, sources_, cache_),
      steps_(context(), painter_, sources_, cache_),
      l_(context()) {
  info_.largest_rows = context()->description().texture_side;
  info_.largest_columns = 4 * (context()->description().texture_side - 1);
}

std::unique_ptr<DeviceMatrix<float>> RasterBackend::allocate(Index rows, Index columns) {
  begin();
  fences().note_commands();
  return std::make_unique<RasterMatrix>(context(), rows, columns);
}

Fence RasterBackend::upload(HostBlock<float> from, DeviceBlock<float> to) {
  if (to.empty()) return {};
  operation(Phase::transfer, 0, bytes_of(from), [&] { movement_.upload(from, to); });
  return fences().take();
}

Fence RasterBackend::download(DeviceBlock<float> from, HostBlock<float> to) {
  if (from.empty()) return {};
  operation(Phase::transfer, 0, bytes_of(to), [&] { movement_.download(from, to); });
  return fences().take();
}

Fence RasterBackend::download_transposed(DeviceBlock<float> from, HostBlock<float> to) {
  if (from.empty()) return {};
  operation(Phase::transfer, 0, bytes_of(to), [&] { movement_.download_transposed(from, to); });
  return fences().take();
}

void RasterBackend::copy_transposed(DeviceBlock<float> from, DeviceBlock<float> to) {
  if (from.empty()) return;
  operation(Phase::transfer, 0, 0, [&] { movement_.copy_transposed(from, to); });
}

void RasterBackend::copy(DeviceBlock<float> from, DeviceBlock<float> to) {
  if (from.empty()) return;
  operation(Phase::transfer, 0, 0, [&] { movement_.copy(from, to); });
}

Fence RasterBackend::gather_rows(DeviceBlock<float> from, std::span<const Index> rows, HostBlock<float> to) {
  if (rows.empty() || from.empty()) return {};
  check_rows(rows, from.rows);
  operation(Phase::swap, 0, bytes_of(to), [&] { movement_.gather_rows(from, rows, to); });
  return fences().take();
}

Fence RasterBackend::scatter_rows(HostBlock<float> from, std::span<const Index> rows, DeviceBlock<float> to) {
  if (rows.empty() || to.empty()) return {};
  check_rows(rows, to.rows);
  operation(Phase::swap, 0, bytes_of(from), [&] { movement_.scatter_rows(from, rows, to); });
  return fences().take();
}

void RasterBackend::move_rows(DeviceBlock<float> block, std::span<const RowMove> moves) {
  if (block.empty()) return;
  const std::vector<RowMove> real = moves_that_change(moves, block.rows);
  if (real.empty()) return;
  operation(Phase::swap, 0, 0, [&] { movement_.move_rows(block, real); });
}

void RasterBackend::reserve_moves(Index moves, Index columns) {
  context()->make_current();
  movement_.reserve(moves, columns);
}

void RasterBackend::solve_unit_lower(DeviceBlock<float> l11_transposed, DeviceBlock<float> a12) {
  if (a12.empty()) return;
  operation(Phase::normalize, solve_unit_lower_flops(a12.rows, a12.columns), 0, [&] {
    movement_.unpack(l11_transposed, l_);
    for (Index k = 0; k < a12.rows; ++k) steps_.draw_step(a12, 0, {k, k}, column_of_l(k));
    steps_.draw_back(a12, a12.rows - 1);
  });
}

void RasterBackend::update(DeviceBlock<float> l21_transposed, DeviceBlock<float> u12, DeviceBlock<float> a22) {
  if (a22.empty() || u12.empty()) return;
  operation(Phase::reduce, product_flops(a22.rows, a22.columns, u12.rows), 0, [&] {
    movement_.unpack(l21_transposed, l_);
    eliminate_with(aligned(u12, a22), a22);
  });
  glFlush();  // start the device before the host waits for the network
}

/// A22 <- A22 - L21 U12, L21 in l_, one outer product after the other (white paper 3.2.4).
void RasterBackend::eliminate_with(const DeviceBlock<float>& u, const DeviceBlock<float>& a) {
  for (Index k = 0; k < u.rows; ++k) steps_.draw_outer_product(a, column_of_l(k), u, k);
  steps_.draw_back(a, 0);
}

// On the host: a drawing for each unknown would take longer.
void RasterBackend::solve_triangle(Triangle triangle, DeviceBlock<float> t, DeviceBlock<float> x) {
  if (x.empty()) return;
  begin();
  reserve(triangle_read_, x.rows * (x.rows + x.columns));
  const HostBlock<float> t_host{triangle_read_.get(), 0, x.rows, x.rows, x.rows};
  const HostBlock<float> x_host{triangle_read_.get(), x.rows * x.rows, x.rows, x.columns, x.columns};
  download(t, t_host);
  wait(download(x, x_host));
  {
    const auto scope =
        timeline().scope(Lane::cpu, Phase::substitution, 0, solve_triangle_flops(triangle, x.rows, x.columns));
    panel().solve_triangle(triangle, t_host.view(), x_host.view());
  }
  upload(x_host, x);
}

void RasterBackend::subtract_product(DeviceBlock<float> a, DeviceBlock<float> x, DeviceBlock<float> y) {
  if (a.empty()) return;
  operation(Phase::substitution, substitute_flops(a.rows, a.columns), 0, [&] { steps_.substitute(a, x, y); });
}

DeviceBlock<float> RasterBackend::scratch(Index rows, Index columns, const DeviceBlock<float>& aligned_with) {
  const Index shift = aligned_with.column % 4;
  if (!scratch_ || scratch_->rows() < rows || scratch_->columns() < columns + shift) {
    const Index kept_rows = scratch_ ? scratch_->rows() : 0, kept_columns = scratch_ ? scratch_->columns() : 0;
    scratch_.reset();
    scratch_ =
        std::make_unique<RasterMatrix>(context(), std::max(rows, kept_rows), std::max(columns + 3, kept_columns));
  }
  return {scratch_.get(), 0, shift, rows, columns};
}

DeviceBlock<float> RasterBackend::aligned(const DeviceBlock<float>& u, const DeviceBlock<float>& block) {
  if (u.column % 4 == block.column % 4) return u;
  const DeviceBlock<float> copied = scratch(u.rows, u.columns, block);
  movement_.copy(u, copied);
  return copied;
}

}  // namespace gl

std::unique_ptr<Backend<float>> make_raster_backend(const BackendOptions& options, Timeline& timeline) {
  return std::make_unique<gl::RasterBackend>(gl::Context::create(options.device, options.debug), options, timeline);
}

}  // namespace glinpack
