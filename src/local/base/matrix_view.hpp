// Non-owning views of matrices in host memory.
//
// The two layouts are two types, so that the compiler rejects confusing them:
//   RowMajorView     local matrices and exchanged rows        (i, j) at data[i * leading_dimension + j]
//   ColumnMajorView  panels of host panel factorisations      (i, j) at data[i + j * leading_dimension]
// A column-major view of A is a row-major view of A^T; transposed() converts one into the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace glinpack {

/// Sizes and local positions; signed, so that differences are safe.
using Index = std::int64_t;

constexpr Index divide_up(Index value, Index unit) { return (value + unit - 1) / unit; }
constexpr Index round_up(Index value, Index unit) { return divide_up(value, unit) * unit; }

template <class Real>
struct ColumnMajorView;

template <class Real>
struct RowMajorView {
  Real* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 0;

  Real& operator()(Index i, Index j) const { return data[i * leading_dimension + j]; }
  Real* row(Index i) const { return data + i * leading_dimension; }
  RowMajorView block(Index i, Index j, Index block_rows, Index block_columns) const {
    return {data + i * leading_dimension + j, block_rows, block_columns, leading_dimension};
  }
  ColumnMajorView<Real> transposed() const { return {data, columns, rows, leading_dimension}; }
  operator RowMajorView<const Real>() const requires(!std::is_const_v<Real>) {
    return {data, rows, columns, leading_dimension};
  }
};

template <class Real>
struct ColumnMajorView {
  Real* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 0;

  Real& operator()(Index i, Index j) const { return data[i + j * leading_dimension]; }
  Real* column(Index j) const { return data + j * leading_dimension; }
  ColumnMajorView block(Index i, Index j, Index block_rows, Index block_columns) const {
    return {data + i + j * leading_dimension, block_rows, block_columns, leading_dimension};
  }
  RowMajorView<Real> transposed() const { return {data, columns, rows, leading_dimension}; }
  operator ColumnMajorView<const Real>() const requires(!std::is_const_v<Real>) {
    return {data, rows, columns, leading_dimension};
  }
};

/// The elements in rows, each converted.
template <class To, class From>
std::vector<To> elements_of(const RowMajorView<From>& a) {
  std::vector<To> elements;
  elements.reserve(static_cast<std::size_t>(a.rows * a.columns));
  for (Index i = 0; i < a.rows; ++i) elements.insert(elements.end(), a.row(i), a.row(i) + a.columns);
  return elements;
}

}  // namespace glinpack
