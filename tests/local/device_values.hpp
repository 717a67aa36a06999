// Matrices for tests of devices: uploads and downloads of whole matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "backend/backend.hpp"
#include "base/precision.hpp"

namespace glinpack::test {

template <class Real>
struct Values {
  Index rows = 0;
  Index columns = 0;
  std::vector<Real> elements;

  Values() = default;
  Values(Index row_count, Index column_count)
      : rows(row_count), columns(column_count), elements(static_cast<std::size_t>(row_count * column_count)) {}
  Real& operator()(Index i, Index j) { return elements[static_cast<std::size_t>(i * columns + j)]; }
  Real operator()(Index i, Index j) const { return elements[static_cast<std::size_t>(i * columns + j)]; }
  friend bool operator==(const Values&, const Values&) = default;
};

template <class Real>
RowMajorView<Real> view(Values<Real>& values) {
  return {values.elements.data(), values.rows, values.columns, values.columns};
}

template <class Real>
Values<Real> random_values(Index rows, Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  Values<Real> values(rows, columns);
  for (Real& element : values.elements) element = uniform(random);
  return values;
}

/// Replaces the elements; views of them stay valid.
template <class Real>
void copy_elements(const Values<Real>& from, Values<Real>& to) {
  std::copy(from.elements.begin(), from.elements.end(), to.elements.begin());
}

/// A device matrix with these values.
template <class Real>
std::unique_ptr<DeviceMatrix<Real>> on_device(Backend<Real>& backend, const Values<Real>& values) {
  auto matrix = backend.allocate(values.rows, values.columns);
  auto buffer = backend.allocate_host(values.rows * values.columns);
  std::copy(values.elements.begin(), values.elements.end(), buffer->data());
  backend.wait(backend.upload({buffer.get(), 0, values.rows, values.columns, values.columns}, whole(*matrix)));
  return matrix;
}

template <class Real>
Values<Real> from_device(Backend<Real>& backend, DeviceMatrix<Real>& matrix) {
  Values<Real> values(matrix.rows(), matrix.columns());
  auto buffer = backend.allocate_host(values.rows * values.columns);
  backend.wait(backend.download(whole(matrix), {buffer.get(), 0, values.rows, values.columns, values.columns}));
  std::copy(buffer->data(), buffer->data() + buffer->size(), values.elements.begin());
  return values;
}

/// A block of a matrix of random numbers.
template <class Real>
struct RandomBlock {
  RandomBlock(Backend<Real>& backend, Index row, Index column, Index rows, Index columns, unsigned seed)
      : values(random_values<Real>(row + rows + 1, column + columns + 2, seed)),
        matrix(on_device(backend, values)),
        block{matrix.get(), row, column, rows, columns} {}
  double operator()(Index i, Index j) const { return static_cast<double>(values(block.row + i, block.column + j)); }

  Values<Real> values;
  std::unique_ptr<DeviceMatrix<Real>> matrix;
  DeviceBlock<Real> block;
};

/// The largest difference; infinite if an element is not finite.
template <class Real>
double largest_difference(const Values<Real>& a, const Values<Real>& b) {
  double largest = 0;
  for (std::size_t e = 0; e < a.elements.size(); ++e) {
    const double difference = std::abs(static_cast<double>(a.elements[e]) - static_cast<double>(b.elements[e]));
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace glinpack::test
