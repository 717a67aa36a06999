#include "library/arithmetic.hpp"

#include <stdexcept>

#include "host/host_memory.hpp"
#include "library/failure.hpp"

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
      if (zeroed) return backend().allocate(rows, columns);
      return allocate_unset(rows, columns);
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
auto Arithmetic<Real>::transpose(Matrix& a) -> MatrixPointer {
  const MatrixPointer result = make_unset(a.columns(), a.rows());
  backend().copy_transposed(whole(a), whole(*result));
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
void Arithmetic<Real>::finish() {
  if (factorized_.expired()) factors_ = {};
  wait();
}

template class Arithmetic<float>;
template class Arithmetic<double>;

}  // namespace glinpack::library
