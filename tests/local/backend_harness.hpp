// Compares every registered backend with the reference. Both get the same operands and operations. Then all elements
// are compared, including those around the operands.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
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

/// A usable device, hardware preferred. -1: none.
inline int any_gl_device() { return device_for_local_rank(gl::list_devices(), 0, true); }

/// The same matrix on both backends, and a block of it that is the operand.
template <class Real>
struct Operand {
  std::unique_ptr<DeviceMatrix<Real>> tested_matrix;
  std::unique_ptr<DeviceMatrix<Real>> expected_matrix;
  DeviceBlock<Real> tested;
  DeviceBlock<Real> expected;
  double largest = 0;  // largest magnitude in the block before the operation
};

/// A tested backend beside the reference, with operands on both.
template <class Real>
class BackendPair {
 public:
  /// Operands have up to `columns_before` columns of their matrices before them.
  BackendPair(Backend<Real>* tested, Backend<Real>* reference, Index columns_before = 6)
      : tested_(tested), reference_(reference), columns_before_(columns_before) {}

  Backend<Real>& tested() { return *tested_; }
  Backend<Real>& reference() { return *reference_; }
  Random& random() { return random_; }
  /// 0 ... last
  Index up_to(Index last) { return static_cast<Index>(random_() % static_cast<std::uint64_t>(last + 1)); }

  std::unique_ptr<HostBuffer<Real>> host_buffer(const std::vector<Real>& elements) {
    auto buffer = tested().allocate_host(static_cast<Index>(elements.size()));
    std::copy(elements.begin(), elements.end(), buffer->data());
    return buffer;
  }

  /// rows x columns random elements anywhere in a larger matrix of NaN, which no operation reads.
  Operand<Real> operand(Index rows, Index columns, bool triangle = false) {
    return operand(rows, columns, [&](Real* first, Index leading_dimension) {
      if (triangle) make_well_conditioned(first, rows, leading_dimension, random_);
    });
  }

  /// The same; `prepare` may change the random elements, given the block's first element and leading dimension.
  template <class Prepare>
  Operand<Real> operand(Index rows, Index columns, Prepare prepare) requires std::invocable<Prepare, Real*, Index> {
    const Index row = up_to(7), column = up_to(columns_before_);
    const Index matrix_rows = row + rows + up_to(2), matrix_columns = column + columns + up_to(4);
    std::vector<Real> elements(static_cast<std::size_t>(matrix_rows * matrix_columns),
                               std::numeric_limits<Real>::quiet_NaN());
    Real* const first = elements.data() + row * matrix_columns + column;
    const RowMajorView<Real> block{first, rows, columns, matrix_columns};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) block(i, j) = random_element<Real>(random_);
    }
    prepare(first, matrix_columns);
    Operand<Real> result;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        result.largest = std::max(result.largest, std::abs(static_cast<double>(block(i, j))));
      }
    }
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

  /// Expects the block within `relative` of the largest operand element, and all elements around it exactly. NaN fails
  /// in the block.
  void expect_same(const Operand<Real>& operand, double relative = 0) {
    const std::vector<Real> actual = get(tested(), *operand.tested_matrix);
    const std::vector<Real> wanted = get(reference(), *operand.expected_matrix);
    ASSERT_EQ(actual.size(), wanted.size());
    const Index columns = operand.tested_matrix->columns();
    const DeviceBlock<Real>& block = operand.tested;
    const auto is_inside = [&](std::size_t at) {
      const Index i = static_cast<Index>(at) / columns - block.row, j = static_cast<Index>(at) % columns - block.column;
      return i >= 0 && i < block.rows && j >= 0 && j < block.columns;
    };
    double largest = operand.largest;
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      if (is_inside(at)) largest = std::max(largest, std::abs(static_cast<double>(wanted[at])));
    }
    const double allowed = relative * std::min(1.0, largest);
    for (std::size_t at = 0; at < actual.size(); ++at) {
      const bool inside = is_inside(at);
      const double difference = std::abs(static_cast<double>(actual[at]) - static_cast<double>(wanted[at]));
      ASSERT_TRUE(inside ? difference <= allowed
                         : actual[at] == wanted[at] || (std::isnan(actual[at]) && std::isnan(wanted[at])))
          << (inside ? "element (" : "neighbour (") << static_cast<Index>(at) / columns - block.row << ", "
          << static_cast<Index>(at) % columns - block.column << ") of the " << block.rows << " x " << block.columns
          << " block is " << actual[at] << " and should be " << wanted[at];
    }
  }

 private:
  Backend<Real>* tested_;
  Backend<Real>* reference_;
  Index columns_before_;
  Random random_{2026};
};

/// The backend of a case beside the reference.
template <class Case>
class BackendTest : public ::testing::Test, public BackendPair<typename Case::Real> {
 protected:
  using Real = typename Case::Real;

  BackendTest() : BackendPair<Real>(backends_.tested.get(), backends_.reference.get()) {}

  // One backend for all tests of a suite: creating a GL context and its shaders takes longer than most tests.
  static void SetUpTestSuite() {
    BackendOptions options{.threads = 2, .debug = true};
    if (has_device(Case::record)) options.device = device_for_local_rank(Case::record.devices->list(), 0, true);
    if (options.device < 0) return;
    backends_.tested = make_backend<Real>(Case::record.name, options, backends_.timeline);
    backends_.reference = make_backend<Real>(oracle.name, options, backends_.timeline_of_reference);
  }
  static void TearDownTestSuite() {
    backends_.tested.reset();
    backends_.reference.reset();
  }
  void SetUp() override {
    if (!backends_.tested) GTEST_SKIP() << "waived: no usable device here";
  }

  Timeline& timeline() { return backends_.timeline; }

 private:
  struct Backends {
    Timeline timeline, timeline_of_reference;
    std::unique_ptr<Backend<Real>> tested, reference;
  };
  static inline Backends backends_;
};

using AllCases = CasesIf<is_not_oracle>::Types;

}  // namespace glinpack::test
