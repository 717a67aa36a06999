// Compares every registered backend with the reference. Both get the same operands and operations. Then all elements
// are compared, including those around the operands.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "backend/registry.hpp"
#include "base/precision.hpp"
#include "gl/devices.hpp"
#include "tests/local/random_matrix.hpp"

namespace glinpack::test {

/// A backend of the registry in one of its precisions.
template <class RealType, std::size_t place>
struct BackendCase {
  using Real = RealType;
  static constexpr const BackendRecord& record = *registered_backends[place];
};

/// The backends that meet `condition`, in each of their precisions, as testing::Types of BackendCase.
template <bool (*condition)(const BackendRecord&)>
class CasesIf {
  template <class Real, std::size_t place>
  static auto in_precision() {
    constexpr const BackendRecord& record = *registered_backends[place];
    if constexpr (condition(record) && record.factory<Real>().has_value()) {
      return std::tuple<BackendCase<Real, place>>();
    } else {
      return std::tuple<>();
    }
  }
  template <std::size_t... places>
  static auto all(std::index_sequence<places...>) {
    return std::tuple_cat(std::tuple_cat(in_precision<float, places>(), in_precision<double, places>())...);
  }
  template <class... Cases>
  static testing::Types<Cases...> types(std::tuple<Cases...>);

 public:
  using Types = decltype(types(all(std::make_index_sequence<registered_backends.size()>())));
};

inline constexpr const BackendRecord& oracle = reference_record;
// compares names: with sanitizers, GCC does not accept a comparison of addresses as a constant
constexpr bool is_not_oracle(const BackendRecord& record) { return std::string_view(record.name) != oracle.name; }
constexpr bool has_device(const BackendRecord& record) { return record.memory == MemorySpace::device; }

struct CaseNames {
  template <class Case>
  static std::string GetName(int) {
    std::string name = std::string(Case::record.name) + "_" + std::string(name_of(precision_of<typename Case::Real>));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};

template <class Real>
struct TestedBackend {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
};

/// A usable device, hardware preferred. -1: none.
inline int any_gl_device() { return device_for_local_rank(gl::list_devices(), 0, true); }

/// The same matrix on both backends, and a block of it that is the operand.
template <class Real>
struct Operand {
  std::unique_ptr<DeviceMatrix<Real>> tested_matrix;
  std::unique_ptr<DeviceMatrix<Real>> expected_matrix;
  DeviceBlock<Real> tested;
  DeviceBlock<Real> expected;
  double largest = 0;  // largest magnitude in the matrix before the operation
};

template <class Case>
class BackendTest : public ::testing::Test {
 protected:
  using Real = typename Case::Real;

  // One backend for all tests of a suite: creating a GL context and its shaders takes longer than most tests.
  static void SetUpTestSuite() {
    BackendOptions options;
    options.threads = 2;
    options.debug = true;
    if (has_device(Case::record)) options.device = device_for_local_rank(Case::record.devices->list(), 0, true);
    if (options.device < 0) return;
    tested_ = std::make_unique<TestedBackend<Real>>();
    tested_->backend = make_backend<Real>(Case::record.name, options, tested_->timeline);
    reference_ = std::make_unique<TestedBackend<Real>>();
    reference_->backend = make_backend<Real>(oracle.name, options, reference_->timeline);
  }
  static void TearDownTestSuite() {
    tested_.reset();
    reference_.reset();
  }
  void SetUp() override {
    if (!tested_) GTEST_SKIP() << "waived: no usable device here";
  }

  Backend<Real>& tested() { return *tested_->backend; }
  Backend<Real>& reference() { return *reference_->backend; }
  Timeline& timeline() { return tested_->timeline; }

  std::unique_ptr<HostBuffer<Real>> host_buffer(const std::vector<Real>& elements) {
    auto buffer = tested().allocate_host(static_cast<Index>(elements.size()));
    std::copy(elements.begin(), elements.end(), buffer->data());
    return buffer;
  }

  /// rows x columns random elements inside a larger random matrix, at an offset that differs between operands.
  Operand<Real> operand(Index rows, Index columns, bool triangle = false) {
    return operand(rows, columns, [&](Real* first, Index leading_dimension) {
      if (triangle) make_well_conditioned(first, rows, leading_dimension, random_);
    });
  }

  /// The same; `prepare` may change the random elements, given the block's first element and leading dimension.
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

  /// Expects the block within `relative` of the largest operand element, and all elements around it exactly. NaN fails.
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

using AllCases = CasesIf<is_not_oracle>::Types;

}  // namespace glinpack::test
