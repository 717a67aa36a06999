#include <algorithm>
#include <bit>

#include "base/row_interchanges.hpp"
#include "gl/gl_compute.hpp"
#include "kernels/compute_memory.hpp"
#include "kernels/kernels.hpp"
#include "library/arithmetic.hpp"
#include "lu/factorize.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::library {
namespace {

constexpr Index cached_depth = 1024;  // deeper products would evict tiles of the operands from the cache
constexpr Index block_columns = 64;   // of factors
constexpr Index min_on_device = 256;  // of rows to factorise there: to make its panel takes longer than LAPACK below
constexpr Index max_groups = 65535;

template <class Real>
class GlArithmetic final : public BackendArithmetic<Real> {
 public:
  using typename Arithmetic<Real>::Factors;
  using typename Arithmetic<Real>::Matrix;
  using typename Arithmetic<Real>::MatrixPointer;

  GlArithmetic(int device, int threads)
      : backend_(make_gl_compute_backend<Real>(backend_options(threads, device), timeline_)),
        programs_(dynamic_cast<ComputePrograms&>(*backend_)),
        software_(backend_->info().software_device) {}

  RowMajorView<const Real> read(Matrix& a) override {
    const HostBlock<Real> host = staging(a.rows(), a.columns());
    backend_->wait(backend_->download(whole(a), host));
    return host.view();
  }

  // The backend subtracts products, and takes the left matrix transposed.
  MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) override {
    const MatrixPointer left = transpose_a ? nullptr : this->transpose(a);
    const MatrixPointer right = transpose_b ? this->transpose(b) : nullptr;
    Matrix &l = left ? *left : a, &r = right ? *right : b;
    const MatrixPointer negative = this->make(l.columns(), r.columns());
    for (Index k = 0; k < l.rows(); k += cached_depth) {
      const Index depth = std::min(cached_depth, l.rows() - k);
      backend_->update(whole(l).block(k, 0, depth, l.columns()), whole(r).block(k, 0, depth, r.columns()),
                       whole(*negative));
    }
    return combine({.alpha = -1}, *negative, nullptr);
  }

  MatrixPointer combine(const Combination& how, Matrix& a, Matrix* b) override {
    const MatrixPointer result = this->make(a.rows(), a.columns());
    programs_.run([&] {
      DeviceProgram& program = elementwise();
      const bool multiplies = how.operation == Elementwise::multiply, divides = how.operation == Elementwise::divide;
      const int selected = multiplies ? 2 : divides ? 3 : b ? 0 : 1;
      program.set(4, selected);
      set(program, 5, static_cast<Real>(how.alpha));
      set(program, 6, static_cast<Real>(how.beta));
      const compute::Kernels& kernels = programs_.kernels_of_programs();
      const compute::Region left = region_of(a), right = b ? region_of(*b) : left, to = region_of(*result);
      compute::for_window_parts(to, kernels.window_elements(), 1, [&](Index i, Index j, Index rows, Index columns) {
        program.set(0, columns);
        for (Index first = 0; first < rows; first += max_groups) {
          const Index count = std::min(max_groups, rows - first);
          kernels.bind(program, 0, 1, left.block(i + first, j, count, columns));
          kernels.bind(program, 1, 2, right.block(i + first, j, count, columns));
          kernels.bind(program, 2, 3, to.block(i + first, j, count, columns));
          kernels.dispatch(program, compute::groups(columns, 512), count);
        }
      });
    });
    return result;
  }

  Backend<Real>& backend() override { return *backend_; }

 protected:
  Factors factorize(Matrix& a) override {
    Factors factors{this->copy(a), std::vector<Index>(static_cast<std::size_t>(a.rows()))};
    // the device stops at a zero pivot, LAPACK does not
    if (a.rows() >= min_on_device &&
        !factorize_on_one_rank<Real>(*backend_, *factors.elements, {.nb = block_columns}, factors.pivots)) {
      return factors;
    }
    const MatrixPointer by_columns = this->transpose(a);
    const RowMajorView<const Real> elements = read(*by_columns);
    std::vector<Real> complete(elements.data, elements.data + a.rows() * a.rows());
    factors.singular = factorize_on_host<Real>({complete.data(), a.rows(), a.rows(), a.rows()}, factors.pivots) != 0;
    write(*by_columns, complete);
    backend_->copy_transposed(whole(*by_columns), whole(*factors.elements));
    return factors;
  }
  MatrixPointer solve_with(const Factors& factors, Matrix& b) override {
    MatrixPointer x = this->make(b.rows(), b.columns());
    this->copy(whole(b), whole(*x));
    const std::vector<Index> order = row_order_of(factors.pivots);
    std::vector<RowMove> moves;
    for (Index i = 0; i < b.rows(); ++i) moves.push_back({order[static_cast<std::size_t>(i)], i});
    backend_->move_rows(whole(*x), moves);
    substitute(*factors.elements, *x);
    return x;
  }
  MatrixPointer invert_with(const Factors& factors) override {
    const Index n = factors.elements->rows();
    std::vector<Real> identity = host_elements<Real>(n * n);
    for (Index i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * (n + 1))] = 1;
    return solve_with(factors, *this->make(n, n, identity));
  }
  void wait() override {
    backend_->wait_all();
    backend_->collect_timings();
    timeline_.restart();
  }
  // Software OpenGL takes host memory.
  bool has_room(Index rows, Index columns) override {
    return !software_ ||
           host_has(rows * round_up(columns, compute::window_alignment) * static_cast<std::int64_t>(sizeof(Real)));
  }
  void write(Matrix& a, std::span<const Real> row_major) override {
    const HostBlock<Real> host = staging(a.rows(), a.columns());
    std::copy(row_major.begin(), row_major.end(), host.buffer->data());
    backend_->wait(backend_->upload(host, whole(a)));
  }

 private:
  static compute::Region region_of(Matrix& a) { return static_cast<compute::ComputeMatrix<Real>&>(a).region(); }
  static void set(DeviceProgram& program, int location, Real value) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
    program.set(location, bits & 0xffffffffU, bits >> 32);
  }

  /// Host memory for the elements; the same at every call.
  HostBlock<Real> staging(Index rows, Index columns) {
    if (!staging_ || staging_->size() < rows * columns) {
      staging_.reset();
      staging_ = backend_->allocate_host(rows * columns);
    }
    return {staging_.get(), 0, rows, columns, columns};
  }

  DeviceProgram& elementwise() {
    if (!elementwise_) {
      elementwise_ = programs_.device_of_programs().make_program(
          programs_.sources_of_programs(), "compute/elementwise.comp", programs_.kernels_of_programs().types());
    }
    return *elementwise_;
  }

  /// x <- U^-1 L^-1 x by blocks: substitution with a diagonal block, then a product with the rest of its columns.
  void substitute(Matrix& factors, Matrix& x) {
    const Index n = factors.rows(), right = x.columns();
    const DeviceBlock<Real> lu = whole(factors), solution = whole(x);
    const MatrixPointer rest = this->make(block_columns, n);
    const auto subtract = [&](Index k, Index width, Index first, Index count) {
      if (count == 0) return;
      const DeviceBlock<Real> transposed = whole(*rest).block(0, 0, width, count);
      backend_->copy_transposed(lu.block(first, k, count, width), transposed);
      backend_->update(transposed, solution.block(k, 0, width, right), solution.block(first, 0, count, right));
    };
    for (Index k = 0; k < n; k += block_columns) {
      const Index width = std::min(block_columns, n - k);
      backend_->solve_triangle(Triangle::unit_lower, lu.block(k, k, width, width), solution.block(k, 0, width, right));
      subtract(k, width, k + width, n - k - width);
    }
    for (Index k = (n - 1) / block_columns * block_columns; k >= 0; k -= block_columns) {
      const Index width = std::min(block_columns, n - k);
      backend_->solve_triangle(Triangle::upper, lu.block(k, k, width, width), solution.block(k, 0, width, right));
      subtract(k, width, 0, k);
    }
  }

  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_;
  ComputePrograms& programs_;
  bool software_;
  std::unique_ptr<DeviceProgram> elementwise_;
  std::unique_ptr<HostBuffer<Real>> staging_;
};

}  // namespace

template <class Real>
std::unique_ptr<Arithmetic<Real>> make_gl_arithmetic(int device, int threads) {
  return std::make_unique<GlArithmetic<Real>>(device, threads);
}

template std::unique_ptr<Arithmetic<float>> make_gl_arithmetic(int, int);
template std::unique_ptr<Arithmetic<double>> make_gl_arithmetic(int, int);

}  // namespace glinpack::library
