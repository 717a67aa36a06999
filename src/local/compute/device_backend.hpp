// Common parts of the backends on compute devices: fences, the clock of operations, panels on the host.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend_record.hpp"
#include "base/memory_count.hpp"
#include "device/command_stream.hpp"
#include "device/mapped_buffer.hpp"
#include "device/shader_source.hpp"
#include "openblas/blas_library.hpp"
#include "openblas/openblas_backend.hpp"
#include "products/matrix_sums.hpp"

namespace glinpack::compute {

template <class Real>
class DeviceBackend : public Backend<Real> {
 public:
  /// `name`: of its record. `software_clock`: how operations are timed on software devices, which have no clock of
  /// their own.
  DeviceBackend(std::shared_ptr<ComputeDevice> device, std::string_view name, const BackendOptions& options,
                Timeline& timeline, OperationClock::Source software_clock)
      : Backend<Real>(timeline, info_of(device->description(), name, options),
                      make_openblas_panel_arithmetic<Real>(options.threads)),
        options_(options),
        device_(std::move(device)),
        fences_(device_),
        clock_(device_, timeline, fences_,
               device_->description().software ? software_clock : OperationClock::Source::device) {}

  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    begin();
    MemoryCount::add_host(elements * static_cast<Index>(sizeof(Real)));
    return MappedBuffer<Real>::create(device_, elements);
  }
  std::unique_ptr<MatrixProduct> make_matrix_product(const MatrixElements& elements, Precision precision,
                                                     DeviceUse use) final {
    if (!is_wanted(use) || !device_->description().doubles) return nullptr;
    begin();
    fences_.note_commands();
    return make_matrix_sums(device_, ShaderSource(options_.value("shader-dir")), elements, precision,
                            [this](double flops, const std::function<void()>& commands) {
                              operation(Phase::refinement, flops, 0, commands);
                              wait(fence());
                            });
  }
  Fence fence() override {
    device_->make_current();
    return fences_.take();
  }
  void wait(Fence fence) override {
    if (fences_.passed(fence)) return;
    device_->make_current();
    {
      const auto scope = this->timeline().scope(Lane::cpu, Phase::wait);
      fences_.wait(fence);
    }
    clock_.observe();
    device_->throw_error("the device reports a failed operation");
    device_->throw_debug_error();
  }
  void collect_timings() override {
    device_->make_current();
    clock_.collect();
  }

 protected:
  const std::shared_ptr<ComputeDevice>& device() const { return device_; }
  Fences& fences() { return fences_; }
  OperationClock& clock() { return clock_; }

  bool is_wanted(DeviceUse use) const { return use == DeviceUse::always || this->info_.asynchronous; }

  void begin() {
    device_->make_current();
    device_->throw_debug_error();
  }
  /// Records the commands that commands() issues as one interval of the timeline.
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
  /// The moves without those of a row to itself. Throws std::invalid_argument if a row is outside the block.
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
  static BackendInfo info_of(const DeviceDescription& device, std::string_view name, const BackendOptions& options) {
    BackendInfo info;
    info.backend = name;
    info.device = device.renderer;
    info.driver = device.version;
    info.blas = blas_version();
    info.kernels = blas_kernels();
    info.threads = options.threads;
    info.asynchronous = !device.software;  // which computes on the host
    info.software_device = device.software;
    info.device_index = options.device;
    info.device_uuid = device.uuid;
    info.free_bytes = device.free_memory;
    return info;
  }

  BackendOptions options_;
  std::shared_ptr<ComputeDevice> device_;
  Fences fences_;
  OperationClock clock_;
};

}  // namespace glinpack::compute
