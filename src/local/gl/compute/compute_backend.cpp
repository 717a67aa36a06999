#include "local/gl/compute/compute_backend.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "local/gl/compute/compute_memory.hpp"
#include "local/gl/compute/compute_panel.hpp"
#include "local/gl/compute/kernels.hpp"
#include "local/gl/compute/tuning.hpp"
#include "local/gl/gl_backend.hpp"

namespace glinpack {
namespace gl {
namespace {

template <class Real>
class ComputeBackend final : public GlBackend<Real> {
 public:
  ComputeBackend(const BackendOptions& options, Timeline& timeline, const ComputeLimits& limits)
      : GlBackend<Real>(options, timeline, OperationClock::Source::host),
        stripe_width_(limits.stripe_width),
        players_(limits.players),
        sources_(options.shader_directory, "compute/"),
        kernels_(context(), sources_, precision_of<Real>,
                 limits.window_bytes > 0 ? limits.window_bytes : context()->device().storage_block, stripe_width_,
                 chosen_tile(options.tile, context()->device(), precision_of<Real>)) {}

  BackendInfo info() const override { return this->info_as("gl-compute"); }

  std::unique_ptr<DevicePanel<Real>> make_device_panel(Index rows, Index columns) override;
  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    begin();
    fences().work_given();
    return std::make_unique<ComputeMatrix<Real>>(context(), rows, columns, stripe_width_);
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override {
    if (to.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(from), [&] { kernels_.copy(region_of(from), region_of(to)); });
    return fences().take();
  }
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { kernels_.copy(region_of(from), region_of(to)); });
    return fences().take();
  }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override {
    if (from.empty()) return {};
    operation(Phase::transfer, 0, bytes_of(to), [&] { kernels_.copy_transposed(region_of(from), region_of(to)); });
    return fences().take();
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
    return fences().take();
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override {
    if (rows.empty() || to.empty()) return {};
    check_rows(rows, to.rows);
    std::vector<RowMove> moves;
    for (const Index row : rows) moves.push_back({static_cast<Index>(moves.size()), row});
    operation(Phase::swap, 0, bytes_of(from), [&] { kernels_.copy_rows(region_of(from), region_of(to), moves); });
    return fences().take();
  }
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override;
  void reserve_moves(Index moves, Index columns) override {
    context()->make_current();
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

 private:
  using GlBackend<Real>::begin;
  using GlBackend<Real>::bytes_of;
  using GlBackend<Real>::check_rows;
  using GlBackend<Real>::context;
  using GlBackend<Real>::fences;
  using GlBackend<Real>::operation;

  static double count(Index extent) { return static_cast<double>(extent); }
  Region scratch(Index rows, Index columns);

  class Panel;

  Index stripe_width_;
  Index players_;
  ShaderSource sources_;
  Kernels kernels_;
  std::unique_ptr<ComputeMatrix<Real>> scratch_;
};

template <class Real>
class ComputeBackend<Real>::Panel final : public DevicePanel<Real> {
 public:
  Panel(ComputeBackend& backend, Index rows, Index columns)
      : backend_(backend),
        upper_(backend.context(), ComputePanel::block, columns, backend.stripe_width_),
        panel_(backend.context(), backend.sources_, precision_of<Real>, backend.kernels_, rows, columns,
               backend.players_, upper_.region()) {}

  Fence factorize(DeviceBlock<Real> a_transposed) override {
    const double rows = count(a_transposed.columns), columns = count(a_transposed.rows);
    const double flops = rows * columns * columns - columns * columns * columns / 3;
    backend_.operation(Phase::panel, flops, 0, [&] { panel_.factorize(region_of(a_transposed)); });
    return backend_.fences().take();
  }
  std::optional<Index> outcome(std::span<Index> pivots) const override { return panel_.outcome(pivots); }

 private:
  ComputeBackend& backend_;
  ComputeMatrix<Real> upper_;
  ComputePanel panel_;
};

template <class Real>
std::unique_ptr<DevicePanel<Real>> ComputeBackend<Real>::make_device_panel(Index rows, Index columns) {
  // the shaders see a panel, A^T, through one window
  if (rows < columns || columns * round_up(rows, stripe_width_) > kernels_.window_elements()) return nullptr;
  begin();
  fences().work_given();
  return std::make_unique<Panel>(*this, rows, columns);
}

template <class Real>
void ComputeBackend<Real>::move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) {
  if (block.empty()) return;
  std::vector<RowMove> out, back;
  for (const RowMove& move : this->moves_that_change(moves, block.rows)) {
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
    scratch_ = std::make_unique<ComputeMatrix<Real>>(context(), std::max(rows, kept_rows),
                                                     std::max(columns, kept_columns), stripe_width_);
  }
  return scratch_->region().block(0, 0, rows, columns);
}

}  // namespace
}  // namespace gl

template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                    const ComputeLimits& limits) {
  return std::make_unique<gl::ComputeBackend<Real>>(options, timeline, limits);
}

template std::unique_ptr<Backend<float>> make_compute_backend(const BackendOptions&, Timeline&, const ComputeLimits&);
template std::unique_ptr<Backend<double>> make_compute_backend(const BackendOptions&, Timeline&, const ComputeLimits&);

}  // namespace glinpack
