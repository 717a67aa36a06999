// The backends that compute on the processor: matrices in host memory. Operations are synchronous, so that every fence
// is passed.
#pragma once

#include <memory>
#include <utility>

#include "backend/backend.hpp"
#include "host/host_memory.hpp"

namespace glinpack {

/// Row-major. Owns its memory, with the leading dimension of padded_leading_dimension(), or is a view of other memory.
template <class Real>
class HostMatrix final : public DeviceMatrix<Real> {
 public:
  /// Zero-filled by `threads` threads.
  HostMatrix(Index rows, Index columns, int threads)
      : HostMatrix(rows, columns, allocate_zeroed<Real>(rows * padded_leading_dimension<Real>(columns), threads)) {}
  /// Not set.
  static std::unique_ptr<HostMatrix> make_unset(Index rows, Index columns) {
    auto elements = allocate_unset<Real>(rows * padded_leading_dimension<Real>(columns));
    return std::unique_ptr<HostMatrix>(new HostMatrix(rows, columns, std::move(elements)));
  }
  explicit HostMatrix(const RowMajorView<Real>& elements)
      : DeviceMatrix<Real>(elements.rows, elements.columns),
        leading_dimension_(elements.leading_dimension),
        first_(elements.data) {}

  RowMajorView<Real> view() const { return {first_, this->rows(), this->columns(), leading_dimension_}; }

 private:
  HostMatrix(Index rows, Index columns, AlignedArray<Real> elements)
      : DeviceMatrix<Real>(rows, columns),
        leading_dimension_(padded_leading_dimension<Real>(columns)),
        owned_(std::move(elements)),
        first_(owned_.get()) {}

  Index leading_dimension_;
  AlignedArray<Real> owned_;
  Real* first_;
};

/// The elements of a block of a HostMatrix.
template <class Real>
RowMajorView<Real> view_of(const DeviceBlock<Real>& block) {
  return static_cast<const HostMatrix<Real>*>(block.matrix)
      ->view()
      .block(block.row, block.column, block.rows, block.columns);
}

template <class Real>
class HostOperand final : public OperandInPlace<Real, HostMatrix<Real>> {
 public:
  using OperandInPlace<Real, HostMatrix<Real>>::OperandInPlace;
  DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence&) override {
    return this->see(std::make_unique<HostMatrix<Real>>(block.view()));
  }
};

/// Operations of Arithmetic on elements in host memory. Extents are not 0.
template <class Real>
struct HostKernels {
  void (*solve_unit_lower)(RowMajorView<const Real> l11_transposed, RowMajorView<Real> a12);
  void (*update)(RowMajorView<const Real> l21_transposed, RowMajorView<const Real> u12, RowMajorView<Real> a22);
  void (*subtract_product)(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y);
};

/// Intervals: lane cpu; copies of any kind are Phase::transfer with their bytes, rows are Phase::swap.
template <class Real>
class HostBackend final : public Backend<Real> {
 public:
  /// `threads`: move data, >= 1.
  HostBackend(Timeline& timeline, const BackendInfo& info, std::shared_ptr<PanelArithmetic<Real>> panel,
              const HostKernels<Real>& kernels, int threads)
      : Backend<Real>(timeline, info, std::move(panel)), kernels_(kernels), threads_(threads) {}

  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override;
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override;
  std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) override {
    return std::make_unique<HostOperand<Real>>(*this, rows, columns);
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override;
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override;
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override;
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override;
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override;

  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override;
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override;
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override;

  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override;
  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override;
  void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) override;
  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override;

  Fence fence() override { return {}; }
  void wait(Fence) override {}

 private:
  void copy_block(RowMajorView<const Real> from, RowMajorView<Real> to) const;
  void transpose_block(RowMajorView<const Real> from, RowMajorView<Real> to) const;

  HostKernels<Real> kernels_;
  int threads_;
};

}  // namespace glinpack
