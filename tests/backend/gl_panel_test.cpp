// Panels that gl-compute factorises on the device: P A = L U, whatever pivots the tournament chooses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "local/gl/compute/compute_backend.hpp"
#include "tests/backend/backend_harness.hpp"
#include "tests/backend/factorization_error.hpp"

namespace glinpack::test {
namespace {

template <class Real>
class GlPanelTest : public ::testing::Test {
 protected:
  // Few players a match, and narrow stripes: small panels have several rounds, and cross stripes.
  static constexpr ComputeLimits limits{.window_bytes = 0, .stripe_width = 64, .players = 64};

  static void SetUpTestSuite() {
    BackendOptions options;
    options.debug_gl = true;
    options.device = any_gl_device();
    if (options.device < 0) return;
    timeline_ = std::make_unique<Timeline>();
    backend_ = make_compute_backend<Real>(options, *timeline_, limits);
  }
  static void TearDownTestSuite() {
    backend_.reset();
    timeline_.reset();
  }
  void SetUp() override {
    if (!backend_) GTEST_SKIP() << "no OpenGL device";
  }

  struct Factorised {
    ColumnMajorMatrix<Real> factors;
    std::vector<Index> pivots;
    std::optional<Index> zero;
  };
  // The panel within a larger matrix, whose other elements must stay as they are.
  static Factorised factorise(const ColumnMajorMatrix<Real>& a) {
    Factorised result{a, std::vector<Index>(static_cast<std::size_t>(a.columns)), {}};
    constexpr Index edge = 3;
    const Index rows = a.rows + edge, columns = a.columns + edge;
    const auto matrix = backend_->allocate(columns, rows);
    const auto buffer = backend_->allocate_host(columns * rows);
    std::fill_n(buffer->data(), columns * rows, Real(7));
    const HostBlock<Real> all{buffer.get(), 0, columns, rows, rows};
    for (Index j = 0; j < a.columns; ++j) std::copy_n(result.factors.view().column(j), a.rows, &all.view()(j, 0));
    backend_->upload(all, whole(*matrix));
    const auto panel = backend_->make_device_panel(rows, columns);
    EXPECT_TRUE(panel);
    backend_->wait(panel->factorize(whole(*matrix).block(0, 0, a.columns, a.rows)));
    result.zero = panel->outcome(result.pivots);
    backend_->wait(backend_->download(whole(*matrix), all));
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        if (i < a.rows && j < a.columns) {
          result.factors.view()(i, j) = all.view()(j, i);
        } else {
          EXPECT_EQ(all.view()(j, i), Real(7)) << "row " << i << ", column " << j;
        }
      }
    }
    return result;
  }

  static inline std::unique_ptr<Timeline> timeline_;
  static inline std::unique_ptr<Backend<Real>> backend_;
};
using Reals = ::testing::Types<float, double>;
struct RealNames {
  template <class Real>
  static std::string GetName(int) {
    return std::string(name_of(precision_of<Real>));
  }
};
TYPED_TEST_SUITE(GlPanelTest, Reals, RealNames);

TYPED_TEST(GlPanelTest, FactorisesPanelsOfAnyShapeWithSmallMultipliers) {
  using Real = TypeParam;
  Random random(5);
  struct Shape {
    Index rows, columns;
  };
  for (const Shape& shape :
       {Shape{1, 1}, {5, 3}, {40, 40}, {64, 32}, {65, 33}, {200, 70}, {700, 97}, {2100, 8}, {300, 130}, {420, 300}}) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    const ColumnMajorMatrix<Real> a(shape.rows, shape.columns, random);
    auto result = this->factorise(a);
    EXPECT_FALSE(result.zero);
    for (Index j = 0; j < shape.columns; ++j) {
      ASSERT_GE(result.pivots[static_cast<std::size_t>(j)], j);
      ASSERT_LT(result.pivots[static_cast<std::size_t>(j)], shape.rows);
    }
    const auto [error, scale] = factorization_error(a, result.factors, result.pivots);
    EXPECT_LE(error, tolerance<Real>(shape.columns) * scale);
    double largest_multiplier = 0;
    for (Index j = 0; j < shape.columns; ++j) {
      for (Index i = j + 1; i < shape.rows; ++i) {
        largest_multiplier = std::max(largest_multiplier, std::abs(static_cast<double>(result.factors.view()(i, j))));
      }
    }
    EXPECT_LT(largest_multiplier, 30);
  }
}

TYPED_TEST(GlPanelTest, ChoosesTheSamePivotsAndFactorsAgain) {
  using Real = TypeParam;
  Random random(6);
  const ColumnMajorMatrix<Real> a(300, 40, random);
  const auto once = this->factorise(a), again = this->factorise(a);
  EXPECT_EQ(once.pivots, again.pivots);
  EXPECT_EQ(once.factors.elements, again.factors.elements);
}

TYPED_TEST(GlPanelTest, TellsTheFirstColumnWithoutAPivot) {
  using Real = TypeParam;
  Random random(7);
  for (const Index zero : {0, 20, 33, 39}) {
    ColumnMajorMatrix<Real> a(200, 40, random);
    for (Index i = 0; i < a.rows; ++i) a.view()(i, zero) = 0;
    EXPECT_EQ(this->factorise(a).zero, zero);
  }
}

TYPED_TEST(GlPanelTest, EndsWithANotANumberWhereThereWasOne) {
  using Real = TypeParam;
  Random random(8);
  ColumnMajorMatrix<Real> a(150, 36, random);
  a.view()(70, 10) = std::numeric_limits<Real>::quiet_NaN();
  auto result = this->factorise(a);
  bool any = false;
  for (Index j = 0; j < a.columns; ++j) {
    for (Index i = 0; i < a.rows; ++i) any = any || std::isnan(result.factors.view()(i, j));
  }
  EXPECT_TRUE(any);
}

TYPED_TEST(GlPanelTest, LeavesPanelsToTheHostThatAreWiderThanTall) {
  EXPECT_FALSE(this->backend_->make_device_panel(10, 11));
}

}  // namespace
}  // namespace glinpack::test
