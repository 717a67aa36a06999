// Contexts and matrices of the C API for tests: values that free themselves, and matrices in host memory to compare
// with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "base/precision.hpp"
#include "gl/gl_compute.hpp"
#include "glinpack.h"
#include "library/session.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::test {

struct FreeContext {
  void operator()(glinpack_context* context) const { glinpack_context_free(context); }
};
struct FreeMatrix {
  void operator()(glinpack_matrix* matrix) const { glinpack_matrix_free(matrix); }
};
using Context = std::unique_ptr<glinpack_context, FreeContext>;
using Handle = std::unique_ptr<glinpack_matrix, FreeMatrix>;

/// GLINPACK_TEST_DEVICE="0" tests a GPU.
inline const char* gl_device() {
  const char* device = std::getenv("GLINPACK_TEST_DEVICE");
  return device ? device : "software";
}

/// gl_device(), with packing 2x2.
inline constexpr const char* packed_device = "packed";

inline Context make_context(const char* device) {
  glinpack_context* context = nullptr;
  if (device && std::string(device) == packed_device) {
    EXPECT_EQ(glinpack_context_create_packed(gl_device(), &context), GLINPACK_OK) << glinpack_last_error();
  } else {
    EXPECT_EQ(glinpack_context_create(device, 1, &context), GLINPACK_OK) << glinpack_last_error();
  }
  return Context(context);
}

/// The result of a function of glinpack.h, called with `arguments` and a pointer to the result.
template <class... Parameters, class... Arguments>
Handle call(glinpack_status (*function)(Parameters...), const Arguments&... arguments) {
  glinpack_matrix* result = nullptr;
  EXPECT_EQ(function(arguments..., &result), GLINPACK_OK) << glinpack_last_error();
  return Handle(result);
}

/// Row-major, in double precision.
struct Elements {
  Index rows = 0;
  Index columns = 0;
  std::vector<double> data{};

  Elements(Index rows_of, Index columns_of)
      : rows(rows_of), columns(columns_of), data(static_cast<std::size_t>(rows_of * columns_of)) {}
  double& operator()(Index i, Index j) { return data[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(Index i, Index j) const { return data[static_cast<std::size_t>(i * columns + j)]; }
};

template <class Function>
Elements generate(Index rows, Index columns, Function element) {
  Elements made(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) made(i, j) = element(i, j);
  }
  return made;
}

/// In [-0.5, 0.5), numbers of single precision.
inline Elements random_elements(Index rows, Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  return generate(rows, columns, [&](Index, Index) { return static_cast<double>(uniform(random)); });
}
/// With a diagonal that makes elimination harmless.
inline Elements well_conditioned(Index n, unsigned seed) {
  Elements made = random_elements(n, n, seed);
  for (Index i = 0; i < n; ++i) made(i, i) += 2 * std::sqrt(static_cast<double>(n));
  return made;
}
inline Elements identity(Index n) {
  return generate(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
}

inline Elements transposed(const Elements& a) {
  return generate(a.columns, a.rows, [&](Index i, Index j) { return a(j, i); });
}
inline Elements product(const Elements& a, const Elements& b) {
  Elements c(a.rows, b.columns);
  for (Index i = 0; i < a.rows; ++i) {
    for (Index k = 0; k < a.columns; ++k) {
      for (Index j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

inline double largest(const Elements& a) {
  double max = 0;
  for (const double element : a.data) max = std::isnan(element) ? element : std::max(max, std::abs(element));
  return max;
}
inline double row_sum_norm(const Elements& a) {
  double max = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.columns; ++j) sum += std::abs(a(i, j));
    max = std::max(max, sum);
  }
  return max;
}
inline double difference(const Elements& a, const Elements& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  return largest(generate(a.rows, a.columns, [&](Index i, Index j) { return a(i, j) - b(i, j); }));
}

inline Handle upload(const Context& context, glinpack_precision precision, const Elements& a) {
  return call(glinpack_matrix_from_double, context.get(), precision, a.rows, a.columns, a.data.data(), a.columns,
              Index{1});
}
inline Elements download(const Handle& matrix) {
  Elements read(glinpack_matrix_rows(matrix.get()), glinpack_matrix_columns(matrix.get()));
  EXPECT_EQ(glinpack_matrix_read_double(matrix.get(), read.data.data(), read.columns, 1), GLINPACK_OK)
      << glinpack_last_error();
  return read;
}

/// One per device and precision.
struct Place {
  const char* device;
  glinpack_precision precision;
};
inline std::string name_of(const testing::TestParamInfo<Place>& info) {
  const std::string device = info.param.device;
  return (device == "openblas" || device == packed_device ? device : "gl") +
         (info.param.precision == GLINPACK_SINGLE ? "_single" : "_double");
}

/// With a context, which the tests of a place share: shaders are compiled once.
class OnPlace : public testing::TestWithParam<Place> {
 protected:
  static void TearDownTestSuite() { kept().clear(); }
  // A test leaves no GL object but those that a context keeps on software OpenGL once it has executed everything:
  // programs, buffers of kernels, and for each precision a scratch matrix and the factors of the last matrix.
  void TearDown() override {
    const int kept_objects = is_packed() ? 70 : 40;
    if (std::string(gl_device()) == "software") {
      EXPECT_LE(gl_objects(), kept_objects);
    }
  }

  const Context& context() const {
    const std::string device = GetParam().device;
    for (const auto& [name, made] : kept()) {
      if (name == device) return made;
    }
    kept().emplace_back(device, make_context(device.c_str()));
    return kept().back().second;
  }
  glinpack_precision precision() const { return GetParam().precision; }
  bool is_packed() const { return std::string(GetParam().device) == packed_device; }
  bool on_gl() const { return std::string(GetParam().device) != "openblas"; }
  double epsilon() const { return epsilon_of(precision() == GLINPACK_SINGLE ? Precision::single : Precision::double_); }
  /// c n epsilon with c = 4, as everywhere.
  double tolerance(Index terms) const {
    return precision() == GLINPACK_SINGLE ? glinpack::tolerance<float>(terms) : glinpack::tolerance<double>(terms);
  }
  /// Objects of all GL contexts of the library's context; 0 on OpenBLAS.
  int gl_objects() const {
    auto& queue = library::session_of(context().get())->queue;
    return *queue.take(queue.enqueue([](library::Engine& engine) {
      if (!engine.on_gl()) return 0;
      const auto of = []<class Real>(library::Arithmetic<Real>& arithmetic) {
        Backend<Real>& backend = dynamic_cast<library::BackendArithmetic<Real>&>(arithmetic).backend();
        return count_gl_objects(
            dynamic_cast<gl::Context&>(dynamic_cast<ComputePrograms&>(backend).device_of_programs()));
      };
      if (engine.is_packed()) return count_gl_objects(*engine.device().context());
      return of(engine.arithmetic<float>()) + of(engine.arithmetic<double>()) +
             count_gl_objects(*engine.device().context());
    }));
  }
  Handle up(const Elements& a) const { return upload(context(), precision(), a); }
  /// Software OpenGL is slow.
  std::vector<Index> sizes() const { return {1, 2, 3, 5, 37, 64, 257}; }

 private:
  static std::vector<std::pair<std::string, Context>>& kept() {
    static std::vector<std::pair<std::string, Context>> contexts;
    return contexts;
  }
};

/// A test that needs pivots within a block of 2 x 2, which packing 2x2 does not exchange.
#define SKIP_PACKED() \
  if (is_packed()) GTEST_SKIP() << "rows of a block are not exchanged"

inline auto all_places() {
  return testing::Values(Place{"openblas", GLINPACK_SINGLE}, Place{"openblas", GLINPACK_DOUBLE},
                         Place{gl_device(), GLINPACK_SINGLE}, Place{gl_device(), GLINPACK_DOUBLE});
}

}  // namespace glinpack::test
