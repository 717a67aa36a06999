// What the GL backends share: the context, fences, the clock of operations, panels on the host.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "local/gl/fences.hpp"
#include "local/gl/hpl_sums.hpp"
#include "local/gl/mapped_buffer.hpp"
#include "local/gl/operation_clock.hpp"
#include "local/make_backend.hpp"
#include "local/openblas/openblas_backend.hpp"

namespace glinpack::gl {

template <class Real>
class GlBackend : public Backend<Real> {
 public:
  /// `software_clock`: how operations are timed where the device is software, which has no clock of its own.
  GlBackend(const BackendOptions& options, Timeline& timeline, OperationClock::Source software_clock)
      : Backend<Real>(timeline),
        options_(options),
        context_(Context::create(options.device, options.debug_gl)),
        fences_(context_),
        clock_(context_, timeline, fences_,
               context_->device().software ? software_clock : OperationClock::Source::device),
        panel_(make_openblas_panel_arithmetic<Real>(options.threads)) {}

  /// Software OpenGL has computed when a dispatch returns.
  bool asynchronous() const final { return !context_->device().software; }
  PanelArithmetic<Real>& panel() final { return *panel_; }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    begin();
    return MappedBuffer<Real>::create(context_, elements);
  }
  std::unique_ptr<HplProduct> make_hpl_product(const HplElements& elements, Precision precision) final {
    begin();
    fences_.work_given();
    return std::make_unique<HplSums>(context_, ShaderSource(options_.shader_directory), elements, precision,
                                     [this](double flops, const std::function<void()>& commands) {
                                       operation(Phase::refinement, flops, 0, commands);
                                       wait(fence());
                                     });
  }
  Fence fence() override {
    context_->make_current();
    return fences_.take();
  }
  void wait(Fence fence) override {
    if (fences_.passed(fence)) return;
    context_->make_current();
    {
      const auto scope = this->timeline().scope(Lane::cpu, Phase::wait);
      fences_.wait(fence);
    }
    clock_.observe();
    context_->throw_gl_error("the device reports a failed operation");
    context_->throw_debug_error();
  }
  void collect_timings() override {
    context_->make_current();
    clock_.collect();
  }

 protected:
  const std::shared_ptr<Context>& context() const { return context_; }
  Fences& fences() { return fences_; }

  BackendInfo info_as(const char* name) const {
    const DeviceDescription& device = context_->device();
    BackendInfo info;
    info.backend = name;
    info.device = device.renderer;
    info.driver = device.version;
    info.blas = openblas_version();
    info.kernels = openblas_kernels();
    info.threads = options_.threads;
    info.software_gl = device.software;
    info.device_index = options_.device;
    info.device_uuid = device.uuid;
    info.free_bytes = device.free_memory;
    return info;
  }

  void begin() {
    context_->make_current();
    context_->throw_debug_error();
  }
  /// Gives the device the commands that commands() issues, as one interval of the timeline.
  template <class Commands>
  void operation(Phase phase, double flops, std::int64_t bytes, Commands commands) {
    begin();
    clock_.start(phase, flops, bytes);
    commands();
    clock_.finish();
  }

  static std::int64_t bytes_of(const HostBlock<Real>& block) {
    return block.rows * block.columns * static_cast<std::int64_t>(sizeof(Real));
  }
  static void check_rows(std::span<const Index> rows, Index limit) {
    for (const Index row : rows) {
      if (row < 0 || row >= limit) throw std::invalid_argument("a row of the list is beyond the block");
    }
  }
  /// The moves that change something. Throws std::invalid_argument where a row is beyond the block.
  static std::vector<RowMove> moves_that_change(std::span<const RowMove> moves, Index rows) {
    std::vector<RowMove> real;
    for (const RowMove& move : moves) {
      if (std::min(move.from, move.to) < 0 || std::max(move.from, move.to) >= rows) {
        throw std::invalid_argument("a row to be moved is beyond the block");
      }
      if (move.from != move.to) real.push_back(move);
    }
    return real;
  }

 private:
  BackendOptions options_;
  std::shared_ptr<Context> context_;
  Fences fences_;
  OperationClock clock_;
  std::unique_ptr<PanelArithmetic<Real>> panel_;
};

}  // namespace glinpack::gl
