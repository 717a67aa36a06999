#include "library/arithmetic.hpp"

#include <algorithm>
#include <stdexcept>

#include "host/host_memory.hpp"
#include "library/failure.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::library {

bool host_has(std::int64_t bytes) {
  constexpr std::int64_t min_checked = std::int64_t{16} << 20;
  if (bytes < min_checked) return true;
  const std::int64_t available = available_memory();
  return available == 0 || bytes < available;
}

template <class Real>
auto Arithmetic<Real>::make(Index rows, Index columns) -> MatrixPointer {
  return make(rows, columns, true);
}

template <class Real>
auto Arithmetic<Real>::make_unset(Index rows, Index columns) -> MatrixPointer {
  return make(rows, columns, false);
}

template <class Real>
auto Arithmetic<Real>::make(Index rows, Index columns, bool zeroed) -> MatrixPointer {
  if (has_room(rows, columns)) {
    try {
      if (zeroed) return allocate(rows, columns);
      return allocate_unset(rows, columns);
    } catch (const Failure&) {
      throw;
    } catch (const std::runtime_error&) {
      // its advice is for the program
    }
  }
  throw too_little_memory(rows, columns, sizeof(Real));
}

template <class Real>
auto Arithmetic<Real>::make(Index rows, Index columns, std::span<const Real> row_major) -> MatrixPointer {
  const MatrixPointer matrix = make_unset(rows, columns);
  write(*matrix, row_major);
  return matrix;
}

template <class Real>
auto Arithmetic<Real>::copy(Matrix& a) -> MatrixPointer {
  const MatrixPointer result = make_unset(a.rows(), a.columns());
  copy(whole(a), whole(*result));
  return result;
}

template <class Real>
auto Arithmetic<Real>::factors_of(const MatrixPointer& a) -> const Factors& {
  if (factorized_.lock() != a) {
    factorized_.reset();
    factors_ = {};
    factors_ = factorize(*a);
    factorized_ = a;
  }
  return factors_;
}

template <class Real>
auto Arithmetic<Real>::regular_factors(const MatrixPointer& a, const std::string& used) -> const Factors& {
  const Factors& factors = factors_of(a);
  if (!factors.singular) return factors;
  throw Failure(GLINPACK_SINGULAR, "a matrix to be " + used + " is singular: a pivot is " +
                                       (factors.elements ? "exactly 0" : "0, or nearly so"));
}

template <class Real>
auto Arithmetic<Real>::factor(Matrix& in_rows, std::span<const Index> order, Factor which) -> MatrixPointer {
  const Index n = in_rows.rows();
  std::vector<Real> elements = host_elements<Real>(n * n);
  const RowMajorView<Real> to{elements.data(), n, n, n};
  if (which == Factor::permutation) {
    for (Index i = 0; i < n; ++i) to(i, order[static_cast<std::size_t>(i)]) = 1;
  } else {
    const bool lower = which == Factor::lower;
    const RowMajorView<const Real> from = read(in_rows);
    for (Index i = 0; i < n; ++i) {
      std::copy_n(from.row(i) + (lower ? 0 : i), lower ? i : n - i, to.row(i) + (lower ? 0 : i));
      if (lower) to(i, i) = 1;
    }
  }
  return make(n, n, elements);
}

template <class Real>
auto Arithmetic<Real>::reduced_row_echelon_form(Matrix& a, int threads) -> MatrixPointer {
  const RowMajorView<const Real> from = read(a);
  std::vector<Real> elements = host_elements<Real>(a.rows() * a.columns());
  const RowMajorView<Real> to{elements.data(), a.rows(), a.columns(), a.columns()};
  for (Index i = 0; i < a.rows(); ++i) std::copy_n(from.row(i), a.columns(), to.row(i));
  reduce_to_echelon_form(to, threads);
  return make(a.rows(), a.columns(), elements);
}

template <class Real>
double Arithmetic<Real>::reciprocal_condition(const Factors& factors, double norm) {
  const MatrixPointer by_columns = transpose(*factors.elements);
  return reciprocal_condition_on_host<Real>(read(*by_columns).transposed(), norm);
}

template <class Real>
void Arithmetic<Real>::finish() {
  if (factorized_.expired()) factors_ = {};
  wait();
}

template class Arithmetic<float>;
template class Arithmetic<double>;

}  // namespace glinpack::library
