// The class that make_raster_backend() creates: the operations of every backend, and the white paper's local algorithm
// (section 3.2). Concurrent work of device and host for column j of the pivot's panel:
//
//   device: extra column j | read it back | reduce the rest, rows exchanged | read row j back | extra column j + 1
//   host:                                 | look for pivot j + 1 in it       |
//
// The host never waits for an idle device: it waits for the fence after the column, and for the rows at the end.
#include "gl/raster/raster_backend.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/row_by_row.hpp"
#include "base/timeline.hpp"
#include "compute/device_backend.hpp"
#include "gl/raster/movement.hpp"
#include "gl/raster/steps.hpp"

namespace glinpack {
namespace gl {
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

class RasterBackend final : public compute::DeviceBackend<float>, public RowByRowAlgorithm<float> {
 public:
  RasterBackend(std::shared_ptr<Context> opened, const BackendOptions& options, Timeline& timeline)
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

  RowByRowAlgorithm<float>* row_by_row() override { return this; }
  std::unique_ptr<DeviceMatrix<float>> allocate(Index rows, Index columns) override {
    begin();
    fences().note_commands();
    return std::make_unique<RasterMatrix>(context(), rows, columns);
  }

  Fence upload(HostBlock<float> from, DeviceBlock<float> to) override {
    if (to.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(from), [&] { movement_.upload(from, to); });
    return fences().take();
  }
  Fence download(DeviceBlock<float> from, HostBlock<float> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { movement_.download(from, to); });
    return fences().take();
  }
  Fence download_transposed(DeviceBlock<float> from, HostBlock<float> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { movement_.download_transposed(from, to); });
    return fences().take();
  }
  void copy_transposed(DeviceBlock<float> from, DeviceBlock<float> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { movement_.copy_transposed(from, to); });
  }
  void copy(DeviceBlock<float> from, DeviceBlock<float> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { movement_.copy(from, to); });
  }
  Fence gather_rows(DeviceBlock<float> from, std::span<const Index> rows, HostBlock<float> to) override {
    if (rows.empty() || from.empty()) return {};
    check_rows(rows, from.rows);
    operation(Phase::swap, 0, bytes_of(to), [&] { movement_.gather_rows(from, rows, to); });
    return fences().take();
  }
  Fence scatter_rows(HostBlock<float> from, std::span<const Index> rows, DeviceBlock<float> to) override {
    if (rows.empty() || to.empty()) return {};
    check_rows(rows, to.rows);
    operation(Phase::swap, 0, bytes_of(from), [&] { movement_.scatter_rows(from, rows, to); });
    return fences().take();
  }
  void move_rows(DeviceBlock<float> block, std::span<const RowMove> moves) override {
    if (block.empty()) return;
    const std::vector<RowMove> real = moves_that_change(moves, block.rows);
    if (real.empty()) return;
    operation(Phase::swap, 0, 0, [&] { movement_.move_rows(block, real); });
  }
  void reserve_moves(Index moves, Index columns) override {
    context()->make_current();
    movement_.reserve(moves, columns);
  }
  void solve_unit_lower(DeviceBlock<float> l11_transposed, DeviceBlock<float> a12) override {
    if (a12.empty()) return;
    operation(Phase::normalize, solve_unit_lower_flops(a12.rows, a12.columns), 0, [&] {
      movement_.unpack(l11_transposed, l_);
      for (Index k = 0; k < a12.rows; ++k) steps_.draw_step(a12, 0, {k, k}, column_of_l(k));
      steps_.draw_back(a12, a12.rows - 1);
    });
  }
  void update(DeviceBlock<float> l21_transposed, DeviceBlock<float> u12, DeviceBlock<float> a22) override {
    if (a22.empty() || u12.empty()) return;
    operation(Phase::reduce, product_flops(a22.rows, a22.columns, u12.rows), 0, [&] {
      movement_.unpack(l21_transposed, l_);
      eliminate_with(aligned(u12, a22), a22);
    });
    glFlush();  // start the device before the host waits for the network
  }
  // On the host: a drawing for each unknown would take longer.
  void solve_triangle(Triangle triangle, DeviceBlock<float> t, DeviceBlock<float> x) override {
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

  void subtract_product(DeviceBlock<float> a, DeviceBlock<float> x, DeviceBlock<float> y) override {
    if (a.empty()) return;
    operation(Phase::substitution, substitute_flops(a.rows, a.columns), 0, [&] { steps_.substitute(a, x, y); });
  }

  std::optional<Index> pivot_rows(DeviceBlock<float> a, HostBlock<float> panel_transposed, HostBlock<float> u,
                                  std::span<Index> pivots) override {
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
  void normalize_rows(HostBlock<float> panel_transposed, std::span<const Index> pivots, DeviceBlock<float> a,
                      HostBlock<float> u) override {
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

  void eliminate_rows(ColumnMajorView<const float> u11, DeviceBlock<float> a21,
                      HostBlock<float> panel_transposed) override {
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

  Fence reduce_rows(HostBlock<float> l21_transposed, HostBlock<float> u12, DeviceBlock<float> a22) override {
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

 private:
  /// A part of a matrix that is read back through a pixel buffer, and the fence after the read-back.
  struct ReadBack {
    const float* texels = nullptr;  // four elements each
    Fence there;
  };
  /// Grows a read-back buffer; its content is then lost.
  void reserve(std::unique_ptr<MappedBuffer<float>>& buffer, Index elements) {
    if (buffer && buffer->size() >= elements) return;
    buffer.reset();
    buffer = MappedBuffer<float>::create(context(), elements);
  }

  /// Reads texels [x, x + width) x [y, y + height) of `framebuffer` into the buffer from `offset` on.
  ReadBack read_back(GLuint framebuffer, Index x, Index y, Index width, Index height, MappedBuffer<float>& buffer,
                     Index offset) {
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

  /// The extra column after draw_column, from row `first` of the block on: multipliers in red, the next column
  /// in blue.
  ReadBack read_column(const DeviceBlock<float>& a, Index first) {
    reserve(columns_read_, a.rows * channels);
    return read_back(raster_matrix_of(a).draws_back(), 0, a.row + first, 1, a.rows - first, *columns_read_, 0);
  }
  /// Reads row `row` of the block from the front texture, whole; `slot`: its position in rows_read_.
  ReadBack read_row(const DeviceBlock<float>& a, Index row, Index slot) {
    const Index first = RasterMatrix::texel_of(a.column);
    const Index texels = RasterMatrix::texel_of(a.column + a.columns - 1) + 1 - first;
    return read_back(raster_matrix_of(a).draws_front(), first, a.row + row, texels, 1, *rows_read_,
                     slot * texels * channels);
  }

  /// Column k of L as multipliers.
  Multipliers column_of_l(Index k) const { return {l_.id(), 0, k, true}; }
  /// `u` itself if its columns are aligned to texels as the block's are, else an aligned copy.
  DeviceBlock<float> aligned(const DeviceBlock<float>& u, const DeviceBlock<float>& block) {
    if (u.column % 4 == block.column % 4) return u;
    const DeviceBlock<float> copied = scratch(u.rows, u.columns, block);
    movement_.copy(u, copied);
    return copied;
  }
  DeviceBlock<float> scratch(Index rows, Index columns, const DeviceBlock<float>& aligned_with) {
    const Index shift = aligned_with.column % 4;
    if (!scratch_ || scratch_->rows() < rows || scratch_->columns() < columns + shift) {
      const Index kept_rows = scratch_ ? scratch_->rows() : 0, kept_columns = scratch_ ? scratch_->columns() : 0;
      scratch_.reset();
      scratch_ =
          std::make_unique<RasterMatrix>(context(), std::max(rows, kept_rows), std::max(columns + 3, kept_columns));
    }
    return {scratch_.get(), 0, shift, rows, columns};
  }

  /// A22 <- A22 - L21 U12, L21 in l_, one outer product after the other (white paper 3.2.4).
  void eliminate_with(const DeviceBlock<float>& u, const DeviceBlock<float>& a) {
    for (Index k = 0; k < u.rows; ++k) steps_.draw_outer_product(a, column_of_l(k), u, k);
    steps_.draw_back(a, 0);
  }

  /// Writes the panel into the matrix.
  void write_panel(const HostBlock<float>& panel_transposed, const DeviceBlock<float>& panel) {
    operation(Phase::transfer, 0, bytes_of(panel_transposed), [&] { movement_.upload(panel_transposed, l_); });
    const Fence uploaded = fences().take();
    operation(Phase::transfer, 0, 0, [&] { movement_.pack_transposed(l_, panel); });
    wait(uploaded);  // now the host may overwrite the host block
  }

  const std::shared_ptr<Context>& context() const { return context_; }

  std::shared_ptr<Context> context_;
  Painter painter_;
  ProgramCache cache_;
  ShaderSource sources_;
  Movement movement_;
  Steps steps_;
  ElementTexture l_;  // element (i, k) of L at (i, k)
  std::unique_ptr<RasterMatrix> scratch_;
  std::unique_ptr<MappedBuffer<float>> triangle_read_;  // followed by the unknowns
  std::unique_ptr<MappedBuffer<float>> columns_read_;
  std::unique_ptr<MappedBuffer<float>> rows_read_;
};

}  // namespace
}  // namespace gl

std::unique_ptr<Backend<float>> make_raster_backend(const BackendOptions& options, Timeline& timeline) {
  return std::make_unique<gl::RasterBackend>(gl::Context::create(options.device, options.debug), options, timeline);
}

}  // namespace glinpack
