#include "library/arithmetic.hpp"

#include <string>

#include "library/failure.hpp"

namespace glinpack::library {

template <class Real>
auto Arithmetic<Real>::make(Index rows, Index columns) -> MatrixPointer {
  try {
    return backend().allocate(rows, columns);
  } catch (const std::runtime_error& error) {
    throw Failure(GLINPACK_OUT_OF_MEMORY, "a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
                                              " elements: " + error.what());
  }
}

template <class Real>
auto Arithmetic<Real>::make(Index rows, Index columns, std::span<const Real> row_major) -> MatrixPointer {
  const MatrixPointer matrix = make(rows, columns);
  write(*matrix, row_major);
  return matrix;
}

template <class Real>
auto Arithmetic<Real>::copy(Matrix& a) -> MatrixPointer {
  const MatrixPointer result = make(a.rows(), a.columns());
  copy(whole(a), whole(*result));
  return result;
}

template <class Real>
auto Arithmetic<Real>::transpose(Matrix& a) -> MatrixPointer {
  const MatrixPointer result = make(a.columns(), a.rows());
  backend().copy_transposed(whole(a), whole(*result));
  return result;
}

template class Arithmetic<float>;
template class Arithmetic<double>;

}  // namespace glinpack::library
