// A backend under test beside the reference: both get the same operands and operations, then all elements are compared,
// those around the operands, too.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "local/gl/devices.hpp"
#include "local/make_backend.hpp"
#include "local/precision.hpp"
#include "tests/backend/random_matrix.hpp"

namespace glinpack::test {

template <class RealType>
struct OpenblasCase {
  using Real = RealType;
  static constexpr const char* backend = "openblas";
};
template <class RealType>
struct GlComputeCase {
  using Real = RealType;
  static constexpr const char* backend = "gl-compute";
};
template <class RealType>
struct GlRasterCase {
  using Real = RealType;
  static constexpr const char* backend = "gl-raster";
};

struct CaseNames {
  template <class Case>
  static std::string GetName(int) {
    std::string name = std::string(Case::backend) + "_" + std::string(name_of(precision_of<typename Case::Real>));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};

template <class Real>
struct TestedBackend {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
};

/// Any usable device; hardware first. -1: none.
inline int any_gl_device() { return gl::device_for_local_rank(gl::list_devices(), 0, true); }

/// The same matrix on both backends, and a block of it that is the operand.
template <class Real>
struct Operand {
  std::unique_ptr<DeviceMatrix<Real>> tested_matrix;
  std::unique_ptr<DeviceMatrix<Real>> expected_matrix;
  DeviceBlock<Real> tested;
  DeviceBlock<Real> expected;
  double largest = 0;  // magnitude in the matrix before the operation
};

template <class Case>
class BackendTest : public ::testing::Test {
 protected:
  using Real = typename Case::Real;

  // One backend for all tests of a suite: a GL context and its shaders take longer than most tests.
  static void SetUpTestSuite() {
    BackendOptions options;
    options.threads = 2;
    options.debug_gl = true;
    if (std::string(Case::backend).rfind("gl", 0) == 0) options.device = any_gl_device();
    if (options.device < 0) return;
    tested_ = std::make_unique<TestedBackend<Real>>();
    tested_->backend = make_backend<Real>(Case::backend, options, tested_->timeline);
    reference_ = std::make_unique<TestedBackend<Real>>();
    reference_->backend = make_backend<Real>("reference", options, reference_->timeline);
  }
  static void TearDownTestSuite() {
    tested_.reset();
    reference_.reset();
  }
  void SetUp() override {
    if (!tested_) GTEST_SKIP() << "waived: no usable EGL device here";
  }

  Backend<Real>& tested() { return *tested_->backend; }
  Backend<Real>& reference() { return *reference_->backend; }
  Timeline& timeline() { return tested_->timeline; }

  std::unique_ptr<HostBuffer<Real>> host_buffer(const std::vector<Real>& elements) {
    auto buffer = tested().allocate_host(static_cast<Index>(elements.size()));
    std::copy(elements.begin(), elements.end(), buffer->data());
    return buffer;
  }

  /// rows x columns random elements somewhere inside a larger random matrix; offsets differ from operand to operand.
  Operand<Real> operand(Index rows, Index columns, bool triangle = false) {
    return operand(rows, columns, [&](Real* first, Index leading_dimension) {
      if (triangle) make_well_conditioned(first, rows, leading_dimension, random_);
    });
  }

  /// The same; `prepare` may change the random elements: it gets the block's first one and the leading dimension.
  template <class Prepare>
  Operand<Real> operand(Index rows, Index columns, Prepare prepare) requires std::invocable<Prepare, Real*, Index> {
    ++operands_;
    const Index row = (operands_ * 3) % 8;
    const Index column = (operands_ * 5) % 7;
    Operand<Real> result;
    const Index matrix_rows = row + rows + operands_ % 3;
    const Index matrix_columns = column + columns + operands_ % 5;
    std::vector<Real> elements = random_elements<Real>(matrix_rows * matrix_columns, random_);
    prepare(elements.data() + row * matrix_columns + column, matrix_columns);
    result.largest = largest_magnitude(elements);
    result.tested_matrix = put(tested(), elements, matrix_rows, matrix_columns);
    result.expected_matrix = put(reference(), elements, matrix_rows, matrix_columns);
    result.tested = whole(*result.tested_matrix).block(row, column, rows, columns);
    result.expected = whole(*result.expected_matrix).block(row, column, rows, columns);
    return result;
  }

  static std::unique_ptr<DeviceMatrix<Real>> put(Backend<Real>& backend, const std::vector<Real>& elements, Index rows,
                                                 Index columns) {
    auto matrix = backend.allocate(rows, columns);
    if (elements.empty()) return matrix;
    auto buffer = backend.allocate_host(rows * columns);
    std::copy(elements.begin(), elements.end(), buffer->data());
    backend.wait(backend.upload({buffer.get(), 0, rows, columns, columns}, whole(*matrix)));
    return matrix;
  }

  static std::vector<Real> get(Backend<Real>& backend, DeviceMatrix<Real>& matrix) {
    const Index count = matrix.rows() * matrix.columns();
    if (count == 0) return {};
    auto buffer = backend.allocate_host(count);
    backend.wait(backend.download(whole(matrix), {buffer.get(), 0, matrix.rows(), matrix.columns(), matrix.columns()}));
    return {buffer->data(), buffer->data() + count};
  }

  /// The block within `relative` of the largest element in play, everything around it exactly. NaN is never near.
  void expect_same(const Operand<Real>& operand, double relative = 0) {
    const std::vector<Real> actual = get(tested(), *operand.tested_matrix);
    const std::vector<Real> wanted = get(reference(), *operand.expected_matrix);
    ASSERT_EQ(actual.size(), wanted.size());
    const double allowed = relative * std::max(operand.largest, largest_magnitude(wanted));
    const Index columns = operand.tested_matrix->columns();
    const DeviceBlock<Real>& block = operand.tested;
    for (std::size_t at = 0; at < actual.size(); ++at) {
      const Index i = static_cast<Index>(at) / columns - block.row;
      const Index j = static_cast<Index>(at) % columns - block.column;
      const bool inside = i >= 0 && i < block.rows && j >= 0 && j < block.columns;
      const double difference = std::abs(static_cast<double>(actual[at]) - static_cast<double>(wanted[at]));
      ASSERT_TRUE(difference <= (inside ? allowed : 0.0))
          << (inside ? "element (" : "neighbour (") << i << ", " << j << ") of the " << block.rows << " x "
          << block.columns << " block is " << actual[at] << " and should be " << wanted[at];
    }
  }

  Random& random() { return random_; }

 private:
  static inline std::unique_ptr<TestedBackend<Real>> tested_;
  static inline std::unique_ptr<TestedBackend<Real>> reference_;
  Random random_{2026};
  Index operands_ = 0;
};

using AllCases = ::testing::Types<OpenblasCase<float>, OpenblasCase<double>, GlComputeCase<float>,
                                  GlComputeCase<double>, GlRasterCase<float>>;

}  // namespace glinpack::test
