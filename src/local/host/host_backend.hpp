// What backends that compute in host memory share: matrices, and everything that only moves data.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "local/backend.hpp"

namespace glinpack {

/// Cache-line aligned, zero-filled memory; the pages are first touched by `threads` threads, so that they lie near the
/// cores that will work on them. Throws std::runtime_error with the size when there is not enough.
template <class Real>
class HostMemory {
 public:
  HostMemory(Index elements, int threads);
  Real* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(Real* memory) const { std::free(memory); }
  };
  std::unique_ptr<Real[], Free> data_;
};

template <class Real>
class HostMatrix final : public DeviceMatrix<Real> {
 public:
  HostMatrix(Index rows, Index columns, int threads);
  Index leading_dimension() const { return leading_dimension_; }
  Real* data() const { return memory_.data(); }

 private:
  Index leading_dimension_;
  HostMemory<Real> memory_;
};

/// The elements of a block of a HostMatrix.
template <class Real>
RowMajorView<Real> elements_of(const DeviceBlock<Real>& block);

/// Synchronous: every operation is done when it returns, and every fence has passed.
template <class Real>
class HostBackend : public Backend<Real> {
 public:
  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override;
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override;
  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override;
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override;
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override;
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override;
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override;
  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override;
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override;
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override;
  Fence fence() override { return {}; }
  void wait(Fence) override {}

 protected:
  HostBackend(Timeline& timeline, int threads) : Backend<Real>(timeline), threads_(threads) {}
  int threads() const { return threads_; }
  /// An interval of the CPU's lane until the end of the returned object's life.
  [[nodiscard]] Timeline::Scope computing(Phase phase, double flops) const {
    return this->timeline().scope(Lane::cpu, phase, 0, flops);
  }

 private:
  [[nodiscard]] Timeline::Scope moving(Phase phase, Index rows, Index columns) const {
    return this->timeline().scope(Lane::cpu, phase, rows * columns * static_cast<Index>(sizeof(Real)));
  }

  int threads_;
  std::vector<Real> moved_rows_;
};

/// Name of the processor, as the operating system gives it.
std::string processor_name();

}  // namespace glinpack
