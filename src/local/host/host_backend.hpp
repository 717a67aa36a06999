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

/// Operations of Arithmetic on elements in host memory. Extents are not 0.
template <class Real>
struct HostKernels {
  void (*solve_unit_lower)(RowMajorView<const Real> l11_transposed, RowMajorView<Real> a12);
  void (*update)(RowMajorView<const Real> l21_transposed, RowMajorView<const Real> u12, RowMajorView<Real> a22);
  void (*subtract_product)(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y);
};

/// Intervals: lane cpu; copies of any kind are Phase::transfer with their bytes, rows are Phase::swap. `threads`: move
/// data, >= 1.
template <class Real>
std::unique_ptr<Backend<Real>> make_host_backend(Timeline& timeline, const BackendInfo& info,
                                                 std::shared_ptr<PanelArithmetic<Real>> panel,
                                                 const HostKernels<Real>& kernels, int threads);

}  // namespace glinpack
