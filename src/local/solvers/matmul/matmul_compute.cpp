#include <algorithm>
#include <vector>

#include "kernels/compute_memory.hpp"
#include "kernels/kernels.hpp"
#include "kernels/tuning.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index cached_depth = 1024;

template <class Real>
void copy_rows(RowMajorView<const Real> from, RowMajorView<Real> to) {
  for_rows(from.rows, from.columns, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) std::copy_n(from.row(i), from.columns, to.row(i));
  });
}

/// C <- 0 + A B by the kernel's C <- C + L U, which takes L transposed.
template <class Real>
class ComputedProduct {
 public:
  ComputedProduct(Device& device, const Product<Real>& product, const std::string& tile)
      : device_(device),
        product_(product),
        left_transposed_(*device.context(), product.a.columns, product.a.rows, compute::default_stripe_width),
        right_(*device.context(), product.b.rows, product.b.columns, compute::default_stripe_width),
        result_(*device.context(), product.c.rows, product.c.columns, compute::default_stripe_width),
        zeros_(*device.context(), 1, product.c.columns, compute::default_stripe_width),
        kernels_(device.context(), device.sources(), precision_of<Real>, device.description().storage_block,
                 compute::default_stripe_width, compute::chosen_tile(tile, device.description(), precision_of<Real>),
                 compute::Update::add) {
    for (Index i = 0; i < product.c.rows; ++i) zeros_everywhere_.push_back({0, i});
  }

  void load() {
    load(product_.a, [&](const compute::Region& host) { kernels_.copy_transposed(host, left_transposed_.region()); });
    load(product_.b, [&](const compute::Region& host) { kernels_.copy(host, right_.region()); });
  }
  void compute() {
    device_.measure(Stage::compute, [&] {
      kernels_.copy_rows(zeros_.region(), result_.region(), zeros_everywhere_);
      // deeper parts would evict tiles of A and B from the cache; each part reads and writes C
      const compute::Region left = left_transposed_.region(), right = right_.region();
      for (Index k = 0; k < left.rows; k += cached_depth) {
        const Index depth = std::min(cached_depth, left.rows - k);
        kernels_.update(left.row_range(k, depth), right.row_range(k, depth), result_.region());
      }
    });
  }
  void store() {
    const RowMajorView<Real> c = product_.c;
    device_.download(
        floats * c.rows * c.columns,
        [&](const MappedBuffer<float>& host) { kernels_.copy(result_.region(), region_of(host, c.rows, c.columns)); },
        [&](float* elements) { copy_rows<Real>(view_of(elements, c.rows, c.columns), c); });
  }

 private:
  template <class Upload>
  void load(RowMajorView<const Real> matrix, Upload upload) {
    device_.upload(
        floats * matrix.rows * matrix.columns,
        [&](float* elements) { copy_rows<Real>(matrix, view_of(elements, matrix.rows, matrix.columns)); },
        [&](const MappedBuffer<float>& host) { upload(region_of(host, matrix.rows, matrix.columns)); });
  }
  static constexpr Index floats = static_cast<Index>(sizeof(Real) / sizeof(float));  // the unit of mapped memory
  static RowMajorView<Real> view_of(float* elements, Index rows, Index columns) {
    return {reinterpret_cast<Real*>(elements), rows, columns, columns};
  }
  static compute::Region region_of(const MappedBuffer<float>& host, Index rows, Index columns) {
    return {host.id(), host.elements() / floats, 0, 0, rows, columns, columns, 0, 0};
  }

  Device& device_;
  const Product<Real>& product_;
  compute::ComputeMatrix<Real> left_transposed_;
  compute::ComputeMatrix<Real> right_;
  compute::ComputeMatrix<Real> result_;
  // a row of zeros, copied to C: GL's clearing of a buffer may be slow
  compute::ComputeMatrix<Real> zeros_;
  std::vector<RowMove> zeros_everywhere_;
  compute::Kernels kernels_;
};

}  // namespace

template <class Real>
Steps compute_product(Device& device, const Product<Real>& product, const std::string& tile) {
  device.context()->make_current();
  return steps_of(device.clock(), std::make_shared<ComputedProduct<Real>>(device, product, tile));
}

template Steps compute_product(Device&, const Product<float>&, const std::string&);
template Steps compute_product(Device&, const Product<double>&, const std::string&);

}  // namespace glinpack::solvers
