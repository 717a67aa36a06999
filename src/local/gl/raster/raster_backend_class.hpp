// The class that make_raster_backend() creates. raster_backend.cpp has the operations of every backend,
// raster_row_by_row.cpp the white paper's algorithm.
#pragma once

#include <memory>
#include <vector>

#include "base/row_by_row.hpp"
#include "compute/device_backend.hpp"
#include "gl/raster/movement.hpp"
#include "gl/raster/steps.hpp"

namespace glinpack::gl {

class RasterBackend final : public compute::DeviceBackend<float>, public RowByRowAlgorithm<float> {
 public:
  RasterBackend(std::shared_ptr<Context> opened, const BackendOptions& options, Timeline& timeline);

  RowByRowAlgorithm<float>* row_by_row() override { return this; }
  std::unique_ptr<DeviceMatrix<float>> allocate(Index rows, Index columns) override;

  Fence upload(HostBlock<float> from, DeviceBlock<float> to) override;
  Fence download(DeviceBlock<float> from, HostBlock<float> to) override;
  Fence download_transposed(DeviceBlock<float> from, HostBlock<float> to) override;
  void copy_transposed(DeviceBlock<float> from, DeviceBlock<float> to) override;
  void copy(DeviceBlock<float> from, DeviceBlock<float> to) override;
  Fence gather_rows(DeviceBlock<float> from, std::span<const Index> rows, HostBlock<float> to) override;
  Fence scatter_rows(HostBlock<float> from, std::span<const Index> rows, DeviceBlock<float> to) override;
  void move_rows(DeviceBlock<float> block, std::span<const RowMove> moves) override;
  void reserve_moves(Index moves, Index columns) override;
  void solve_unit_lower(DeviceBlock<float> l11_transposed, DeviceBlock<float> a12) override;
  void update(DeviceBlock<float> l21_transposed, DeviceBlock<float> u12, DeviceBlock<float> a22) override;
  void solve_triangle(Triangle triangle, DeviceBlock<float> t, DeviceBlock<float> x) override;
  void subtract_product(DeviceBlock<float> a, DeviceBlock<float> x, DeviceBlock<float> y) override;

  std::optional<Index> pivot_rows(DeviceBlock<float> a, HostBlock<float> panel_transposed, HostBlock<float> u,
                                  std::span<Index> pivots) override;
  void normalize_rows(HostBlock<float> panel_transposed, std::span<const Index> pivots, DeviceBlock<float> a,
                      HostBlock<float> u) override;
  void eliminate_rows(ColumnMajorView<const float> u11, DeviceBlock<float> a21,
                      HostBlock<float> panel_transposed) override;
  Fence reduce_rows(HostBlock<float> l21_transposed, HostBlock<float> u12, DeviceBlock<float> a22) override;

 private:
  /// A part of a matrix that is read back through a pixel buffer, and the fence after the read-back.
  struct ReadBack {
    const float* texels = nullptr;  // four elements each
    Fence there;
  };
  /// Grows a read-back buffer; its content is then lost.
  void reserve(std::unique_ptr<MappedBuffer<float>>& buffer, Index elements);
  /// Reads texels [x, x + width) x [y, y + height) of `framebuffer` into the buffer from `offset` on.
  ReadBack read_back(GLuint framebuffer, Index x, Index y, Index width, Index height, MappedBuffer<float>& buffer,
                     Index offset);

  /// The extra column after draw_column, from row `first` of the block on: multipliers in red, the next column
  /// in blue.
  ReadBack read_column(const DeviceBlock<float>& a, Index first);
  /// Reads row `row` of the block from the front texture, whole; `slot`: its position in rows_read_.
  ReadBack read_row(const DeviceBlock<float>& a, Index row, Index slot);

  /// Column k of L as multipliers.
  Multipliers column_of_l(Index k) const { return {l_.id(), 0, k, true}; }
  /// `u` itself if its columns are aligned to texels as the block's are, else an aligned copy.
  DeviceBlock<float> aligned(const DeviceBlock<float>& u, const DeviceBlock<float>& block);
  DeviceBlock<float> scratch(Index rows, Index columns, const DeviceBlock<float>& aligned_with);
  void eliminate_with(const DeviceBlock<float>& u, const DeviceBlock<float>& a);

  /// Writes the panel into the matrix.
  void write_panel(const HostBlock<float>& panel_transposed, const DeviceBlock<float>& panel);

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

}  // namespace glinpack::gl
