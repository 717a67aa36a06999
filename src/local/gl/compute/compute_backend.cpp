#include "local/gl/compute/compute_backend.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "local/gl/compute/compute_memory.hpp"
#include "local/gl/compute/kernels.hpp"
#include "local/gl/operation_clock.hpp"
#include "local/openblas/openblas_backend.hpp"

namespace glinpack {
namespace gl {
namespace {

template <class Real>
class ComputeBackend final : public Backend<Real> {
 public:
  ComputeBackend(const BackendOptions& options, Timeline& timeline, std::int64_t window_bytes)
      : Backend<Real>(timeline),
        options_(options),
        context_(Context::create(options.device, options.debug_gl)),
        fences_(context_),
        clock_(context_, timeline, fences_,
               context_->device().software ? OperationClock::Source::host : OperationClock::Source::device),
        kernels_(context_, ShaderSource(options.shader_directory), precision_of<Real>,
                 window_bytes > 0 ? window_bytes : context_->device().storage_block),
        panel_(make_openblas_panel_arithmetic<Real>(options.threads)) {}

  BackendInfo info() const override {
    const DeviceDescription& device = context_->device();
    return {"gl-compute",     device.renderer, device.version,  openblas_kernels(),
            options_.threads, device.software, options_.device, device.free_memory};
  }
  PanelArithmetic<Real>& panel() override { return *panel_; }

  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    begin();
    fences_.work_given();
    return std::make_unique<ComputeMatrix<Real>>(context_, rows, columns);
  }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    begin();
    return MappedBuffer<Real>::create(context_, elements);
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override {
    if (to.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(from), [&] { kernels_.copy(region_of(from), region_of(to)); });
    return fences_.take();
  }
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { kernels_.copy(region_of(from), region_of(to)); });
    return fences_.take();
  }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { kernels_.copy_transposed(region_of(from), region_of(to)); });
    return fences_.take();
  }
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { kernels_.copy_transposed(region_of(from), region_of(to)); });
  }
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { kernels_.copy(region_of(from), region_of(to)); });
  }

  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override {
    if (rows.empty() || from.empty()) return {};
    check_rows(rows, from.rows);
    std::vector<RowMove> moves;
    for (const Index row : rows) moves.push_back({row, static_cast<Index>(moves.size())});
    operation(Phase::swap, 0, bytes_of(to), [&] { kernels_.copy_rows(region_of(from), region_of(to), moves); });
    return fences_.take();
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override {
    if (rows.empty() || to.empty()) return {};
    check_rows(rows, to.rows);
    std::vector<RowMove> moves;
    for (const Index row : rows) moves.push_back({static_cast<Index>(moves.size()), row});
    operation(Phase::swap, 0, bytes_of(from), [&] { kernels_.copy_rows(region_of(from), region_of(to), moves); });
    return fences_.take();
  }
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override;
  void reserve_moves(Index moves, Index columns) override {
    context_->make_current();
    scratch(moves, columns);
  }

  void normalize(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const double flops = count(a12.rows) * count(a12.rows - 1) * count(a12.columns);
    operation(Phase::normalize, flops, 0, [&] { kernels_.normalize(region_of(l11_transposed), region_of(a12)); });
  }
  void reduce(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.empty()) return;
    const double flops = 2 * count(a22.rows) * count(a22.columns) * count(u12.rows);
    operation(Phase::reduce, flops, 0,
              [&] { kernels_.reduce(region_of(l21_transposed), region_of(u12), region_of(a22)); });
    glFlush();  // the host may now wait for the network for long: the device must not wait with it
  }
  void substitute(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const double flops = 2 * count(a.rows) * count(a.columns);
    operation(Phase::substitution, flops, 0, [&] { kernels_.substitute(region_of(a), region_of(x), region_of(y)); });
  }

  Fence fence() override {
    context_->make_current();
    return fences_.take();
  }
  void wait(Fence fence) override {
    if (fences_.passed(fence)) return;
    context_->make_current();
    const auto scope = this->timeline().scope(Lane::cpu, Phase::wait);
    fences_.wait(fence);
    context_->throw_gl_error("the device reports a failed operation");
    context_->throw_debug_error();
  }
  void collect_timings() override {
    context_->make_current();
    clock_.collect();
  }

 private:
  static double count(Index extent) { return static_cast<double>(extent); }
  static std::int64_t bytes_of(const HostBlock<Real>& block) {
    return block.rows * block.columns * static_cast<std::int64_t>(sizeof(Real));
  }
  static void check_rows(std::span<const Index> rows, Index limit) {
    for (const Index row : rows) {
      if (row < 0 || row >= limit) throw std::invalid_argument("a row of the list is beyond the block");
    }
  }

  void begin() {
    context_->make_current();
    context_->throw_debug_error();
  }
  template <class Commands>
  void operation(Phase phase, double flops, std::int64_t bytes, Commands commands) {
    begin();
    clock_.start(phase, flops, bytes);
    commands();
    clock_.finish();
  }
  Region scratch(Index rows, Index columns);

  BackendOptions options_;
  std::shared_ptr<Context> context_;
  Fences fences_;
  OperationClock clock_;
  Kernels kernels_;
  std::unique_ptr<PanelArithmetic<Real>> panel_;
  std::unique_ptr<ComputeMatrix<Real>> scratch_;
};

template <class Real>
void ComputeBackend<Real>::move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) {
  if (block.empty()) return;
  std::vector<RowMove> out, back;
  for (const RowMove& move : moves) {
    if (std::min(move.from, move.to) < 0 || std::max(move.from, move.to) >= block.rows) {
      throw std::invalid_argument("a row to be moved is beyond the block");
    }
    if (move.from == move.to) continue;
    const Index slot = static_cast<Index>(out.size());
    out.push_back({move.from, slot});
    back.push_back({slot, move.to});
  }
  if (out.empty()) return;
  operation(Phase::swap, 0, 0, [&] {
    const Region region = region_of(block);
    const Region rows = scratch(static_cast<Index>(out.size()), block.columns);
    kernels_.copy_rows(region, rows, out);
    kernels_.copy_rows(rows, region, back);
  });
}

/// Device memory for as many rows, kept for the next time.
template <class Real>
Region ComputeBackend<Real>::scratch(Index rows, Index columns) {
  if (!scratch_ || scratch_->rows() < rows || scratch_->columns() < columns) {
    const Index kept_rows = scratch_ ? scratch_->rows() : 0, kept_columns = scratch_ ? scratch_->columns() : 0;
    scratch_.reset();
    scratch_ =
        std::make_unique<ComputeMatrix<Real>>(context_, std::max(rows, kept_rows), std::max(columns, kept_columns));
  }
  return scratch_->region().block(0, 0, rows, columns);
}

}  // namespace
}  // namespace gl

template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                    std::int64_t window_bytes) {
  return std::make_unique<gl::ComputeBackend<Real>>(options, timeline, window_bytes);
}

template std::unique_ptr<Backend<float>> make_compute_backend(const BackendOptions&, Timeline&, std::int64_t);
template std::unique_ptr<Backend<double>> make_compute_backend(const BackendOptions&, Timeline&, std::int64_t);

}  // namespace glinpack
