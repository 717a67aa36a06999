#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/threads.hpp"
#include "host/host_backend.hpp"
#include "library/arithmetic.hpp"
#include "openblas/host_solvers.hpp"
#include "openblas/openblas_backend.hpp"

namespace glinpack::library {
namespace {

constexpr Index grain = 1 << 18;  // minimum elements of a thread

/// Results whose memory is used again: the system clears new pages, which takes 5 % of a product of order 1000. Freed
/// by any thread.
template <class Real>
class Results : public std::enable_shared_from_this<Results<Real>> {
 public:
  /// Not set.
  std::shared_ptr<DeviceMatrix<Real>> make(Index rows, Index columns) {
    std::unique_ptr<HostMatrix<Real>> matrix = take_spare(rows, columns);
    if (!matrix) matrix = HostMatrix<Real>::make_unset(rows, columns);
    return {matrix.release(), [results = this->weak_from_this()](HostMatrix<Real>* freed) {
              std::unique_ptr<HostMatrix<Real>> spare(freed);
              if (const auto kept = results.lock()) kept->keep(std::move(spare));
            }};
  }

 private:
  static constexpr Index min_kept = Index{1} << 16, max_kept = Index{1} << 23;  // elements; up to 64 MiB

  std::unique_ptr<HostMatrix<Real>> take_spare(Index rows, Index columns) {
    const std::lock_guard lock(mutex_);
    if (!spare_ || spare_->rows() != rows || spare_->columns() != columns) return nullptr;
    return std::move(spare_);
  }
  void keep(std::unique_ptr<HostMatrix<Real>> matrix) {
    const Index elements = matrix->rows() * matrix->columns();
    if (elements < min_kept || elements > max_kept) return;
    const std::lock_guard lock(mutex_);
    spare_.swap(matrix);
  }

  std::mutex mutex_;
  std::unique_ptr<HostMatrix<Real>> spare_;
};

template <class Real>
class HostArithmetic final : public BackendArithmetic<Real> {
 public:
  using typename Arithmetic<Real>::Factors;
  using typename Arithmetic<Real>::Matrix;
  using typename Arithmetic<Real>::MatrixPointer;

  explicit HostArithmetic(int threads)
      : threads_(threads), backend_(make_openblas_backend<Real>(backend_options(threads), timeline_)) {}

  RowMajorView<const Real> read(Matrix& a) override { return view(a); }

  MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) override {
    const MatrixPointer left = transpose_a ? this->transpose(a) : nullptr;
    const MatrixPointer right = transpose_b ? this->transpose(b) : nullptr;
    Matrix &l = left ? *left : a, &r = right ? *right : b;
    const MatrixPointer result = this->make_unset(l.rows(), r.columns());
    multiply_on_host<Real>(view(l), view(r), view(*result));
    return result;
  }

  MatrixPointer combine(const Combination& how, Matrix& a, Matrix* b) override {
    const auto alpha = static_cast<Real>(how.alpha), beta = static_cast<Real>(how.beta);
    const MatrixPointer result = this->make_unset(a.rows(), a.columns());
    const RowMajorView<Real> to = view(*result), left = view(a), right = b ? view(*b) : RowMajorView<Real>{};
    const auto each = [&](auto element) {
      parallel_for(threads_, to.rows, std::max<Index>(1, grain / to.columns), [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          for (Index j = 0; j < to.columns; ++j) to(i, j) = element(i, j);
        }
      });
    };
    if (how.operation == Elementwise::multiply) {
      each([&](Index i, Index j) { return left(i, j) * right(i, j); });
    } else if (how.operation == Elementwise::divide) {
      each([&](Index i, Index j) { return left(i, j) / right(i, j); });
    } else if (b) {
      each([&](Index i, Index j) { return alpha * left(i, j) + beta * right(i, j); });
    } else {
      each([&](Index i, Index j) { return alpha * left(i, j) + beta; });
    }
    return result;
  }

  MatrixPointer in_rows(const Factors& factors) override { return this->transpose(*factors.elements); }

  double reciprocal_condition(const Factors& factors, double norm) override {
    return reciprocal_condition_on_host<Real>(view(*factors.elements).transposed(), norm);
  }

  Backend<Real>& backend() override { return *backend_; }

 protected:
  // the elements by columns
  Factors factorize(Matrix& a) override {
    Factors factors{this->transpose(a), std::vector<Index>(static_cast<std::size_t>(a.rows()))};
    factors.singular = factorize_on_host<Real>(view(*factors.elements).transposed(), factors.pivots) != 0;
    return factors;
  }
  MatrixPointer solve_with(const Factors& factors, Matrix& b) override {
    const MatrixPointer by_columns = this->transpose(b);
    substitute_on_host<Real>(view(*factors.elements).transposed(), factors.pivots, view(*by_columns).transposed());
    return this->transpose(*by_columns);
  }
  MatrixPointer invert_with(const Factors& factors) override {
    const MatrixPointer by_columns = this->copy(*factors.elements);
    invert_factors_on_host<Real>(view(*by_columns).transposed(), factors.pivots);
    return this->transpose(*by_columns);
  }
  void wait() override { timeline_.restart(); }
  MatrixPointer allocate_unset(Index rows, Index columns) override { return results_->make(rows, columns); }
  void write(Matrix& a, std::span<const Real> row_major) override {
    const RowMajorView<Real> to = view(a);
    for (Index i = 0; i < to.rows; ++i) {
      std::memcpy(to.row(i), row_major.data() + i * to.columns, static_cast<std::size_t>(to.columns) * sizeof(Real));
    }
  }

 private:
  static RowMajorView<Real> view(Matrix& a) { return static_cast<HostMatrix<Real>&>(a).view(); }

  int threads_;
  std::shared_ptr<Results<Real>> results_ = std::make_shared<Results<Real>>();
  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_;
};

}  // namespace

template <class Real>
std::unique_ptr<Arithmetic<Real>> make_host_arithmetic(int threads) {
  return std::make_unique<HostArithmetic<Real>>(threads);
}

template std::unique_ptr<Arithmetic<float>> make_host_arithmetic(int);
template std::unique_ptr<Arithmetic<double>> make_host_arithmetic(int);

}  // namespace glinpack::library
