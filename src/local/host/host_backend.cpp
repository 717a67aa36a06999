#include "host/host_backend.hpp"

#include <algorithm>
#include <vector>

#include "base/memory_count.hpp"
#include "base/threads.hpp"

namespace glinpack {
namespace {

/// The least elements per thread: starting a thread takes as long as moving them.
constexpr Index elements_per_thread = Index{1} << 18;

/// The grain of a loop over rows or columns with `elements` elements each.
Index grain_of(Index elements) { return elements_per_thread / std::max<Index>(1, elements) + 1; }

template <class Real>
std::int64_t bytes_of(Index rows, Index columns) {
  return rows * columns * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
class HostBackend final : public Backend<Real> {
 public:
  HostBackend(Timeline& timeline, const BackendInfo& info, std::shared_ptr<PanelArithmetic<Real>> panel,
              const HostKernels<Real>& kernels, int threads)
      : Backend<Real>(timeline, info, std::move(panel)), kernels_(kernels), threads_(threads) {}

  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    MemoryCount::add_device(host_matrix_bytes(rows, columns, sizeof(Real)));
    return std::make_unique<HostMatrix<Real>>(rows, columns, threads_);
  }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    MemoryCount::add_host(bytes_of<Real>(elements, 1));
    return std::make_unique<HostBuffer<Real>>(allocate_zeroed<Real>(elements, threads_), elements);
  }
  std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) override {
    return std::make_unique<OperandInPlace<Real>>(
        *this, rows, columns, [](const HostBlock<Real>& block) -> std::unique_ptr<DeviceMatrix<Real>> {
          return std::make_unique<HostMatrix<Real>>(block.view());
        });
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override {
    if (!from.empty()) copy_block(from.view(), view_of(to));
    return {};
  }
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (!from.empty()) copy_block(view_of(from), to.view());
    return {};
  }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (!from.empty()) transpose_block(view_of(from), to.view());
    return {};
  }
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (!from.empty()) transpose_block(view_of(from), view_of(to));
  }
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (!from.empty()) copy_block(view_of(from), view_of(to));
  }

  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override {
    copy_rows(rows, from.columns,
              [&](Index listed, Index i) { std::copy_n(view_of(from).row(listed), from.columns, to.view().row(i)); });
    return {};
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override {
    copy_rows(rows, to.columns,
              [&](Index listed, Index i) { std::copy_n(from.view().row(i), to.columns, view_of(to).row(listed)); });
    return {};
  }

  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override {
    const auto count = static_cast<Index>(moves.size());
    if (count == 0 || block.columns <= 0) return;
    const auto scope = this->timeline().scope(Lane::cpu, Phase::swap, bytes_of<Real>(count, block.columns));
    const RowMajorView<Real> matrix = view_of(block);
    parallel_for(threads_, matrix.columns, grain_of(count), [&](Index begin, Index end) {
      // Strips of columns, all rows read before any is written; a strip of a few hundred rows fits in the second cache.
      constexpr Index strip = 256;
      std::vector<Real> rows(static_cast<std::size_t>(count * strip));
      for (Index first = begin; first < end; first += strip) {
        const Index width = std::min(strip, end - first);
        Real* saved = rows.data();
        for (const RowMove& move : moves) saved = std::copy_n(matrix.row(move.from) + first, width, saved);
        const Real* next = rows.data();
        for (const RowMove& move : moves) {
          std::copy_n(next, width, matrix.row(move.to) + first);
          next += width;
        }
      }
    });
  }

  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::normalize, 0, solve_unit_lower_flops(a12.rows, a12.columns));
    kernels_.solve_unit_lower(view_of(l11_transposed), view_of(a12));
  }
  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::reduce, 0, product_flops(a22.rows, a22.columns, u12.rows));
    kernels_.update(view_of(l21_transposed), view_of(u12), view_of(a22));
  }
  void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) override {
    if (x.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::substitution, 0, solve_triangle_flops(triangle, x.rows, x.columns));
    this->panel().solve_triangle(triangle, view_of(t), view_of(x));
  }
  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const auto scope = this->timeline().scope(Lane::cpu, Phase::substitution, 0, substitute_flops(a.rows, a.columns));
    kernels_.subtract_product(view_of(a), view_of(x), view_of(y));
  }

  Fence fence() override { return {}; }
  void wait(Fence) override {}

 private:
  /// copy(rows[i], i) for all i, on several threads if there are many elements.
  template <class Copy>
  void copy_rows(std::span<const Index> rows, Index columns, Copy copy) const {
    const auto count = static_cast<Index>(rows.size());
    if (count == 0 || columns <= 0) return;
    const auto scope = this->timeline().scope(Lane::cpu, Phase::swap, bytes_of<Real>(count, columns));
    parallel_for(threads_, count, grain_of(columns), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) copy(rows[static_cast<std::size_t>(i)], i);
    });
  }
  void copy_block(RowMajorView<const Real> from, RowMajorView<Real> to) const {
    const auto scope = this->timeline().scope(Lane::cpu, Phase::transfer, bytes_of<Real>(from.rows, from.columns));
    parallel_for(threads_, from.rows, grain_of(from.columns), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) std::copy_n(from.row(i), from.columns, to.row(i));
    });
  }
  void transpose_block(RowMajorView<const Real> from, RowMajorView<Real> to) const {
    const auto scope = this->timeline().scope(Lane::cpu, Phase::transfer, bytes_of<Real>(from.rows, from.columns));
    // Tiles, so that all elements of a cache line are used while it is in cache.
    constexpr Index tile = 32;
    const Index tile_columns = divide_up(to.columns, tile);
    parallel_for(threads_, tile_columns, grain_of(tile * to.rows), [&](Index begin, Index end) {
      const Index end_column = std::min(end * tile, to.columns);
      for (Index first_column = begin * tile; first_column < end_column; first_column += tile) {
        const Index last_column = std::min(first_column + tile, end_column);
        for (Index first_row = 0; first_row < to.rows; first_row += tile) {
          const Index last_row = std::min(first_row + tile, to.rows);
          for (Index i = first_row; i < last_row; ++i) {
            for (Index j = first_column; j < last_column; ++j) to(i, j) = from(j, i);
          }
        }
      }
    });
  }

  HostKernels<Real> kernels_;
  int threads_;
};

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_host_backend(Timeline& timeline, const BackendInfo& info,
                                                 std::shared_ptr<PanelArithmetic<Real>> panel,
                                                 const HostKernels<Real>& kernels, int threads) {
  return std::make_unique<HostBackend<Real>>(timeline, info, std::move(panel), kernels, threads);
}

template std::unique_ptr<Backend<float>> make_host_backend(Timeline&, const BackendInfo&,
                                                           std::shared_ptr<PanelArithmetic<float>>,
                                                           const HostKernels<float>&, int);
template std::unique_ptr<Backend<double>> make_host_backend(Timeline&, const BackendInfo&,
                                                            std::shared_ptr<PanelArithmetic<double>>,
                                                            const HostKernels<double>&, int);

}  // namespace glinpack
