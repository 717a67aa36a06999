// Panels factorised on a compute device: by tournament pivoting, P A = L U for any pivots that TSLU chooses,
// and by partial pivoting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "compute/partial_panel.hpp"
#include "gl/gl_compute.hpp"
#include "tests/captured_log.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/factorization_error.hpp"

namespace glinpack::test {
namespace {

template <class Case>
class TournamentPanelTest : public testing::Test {
 protected:
  using Real = typename Case::Real;
  // Few rows per group and narrow stripes: small panels have several tree levels and cross stripes.
  static constexpr ComputeLimits limits{.window_bytes = 0, .stripe_width = 64, .rows_per_group = 64};

  static void SetUpTestSuite() {
    BackendOptions options;
    options.debug = true;
    options.device = Case::any_device();
    if (options.device < 0) return;
    timeline_ = std::make_unique<Timeline>();
    backend_ = Case::make(options, *timeline_, limits);
  }
  static void TearDownTestSuite() {
    backend_.reset();
    timeline_.reset();
  }
  void SetUp() override {
    if (!backend_) GTEST_SKIP() << "no device";
  }

  struct Factorised {
    ColumnMajorMatrix<Real> factors;
    std::vector<Index> pivots;
    std::optional<Index> zero;
  };
  // Factorises the panel inside a larger matrix. Other elements must not change.
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
    const auto panel = backend_->make_tournament_panel(rows, columns, DeviceUse::always);
    EXPECT_TRUE(panel);
    panel->factorize(whole(*matrix).block(0, 0, a.columns, a.rows));
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

  static std::unique_ptr<DeviceMatrix<Real>> on_device(RowMajorView<Real> a) {
    auto matrix = backend_->allocate(std::max<Index>(a.rows, 1), std::max<Index>(a.columns, 1));
    const auto buffer = backend_->allocate_host(a.rows * a.columns);
    const HostBlock<Real> block{buffer.get(), 0, a.rows, a.columns, a.columns};
    std::copy_n(a.data, a.rows * a.columns, buffer->data());
    backend_->wait(backend_->upload(block, whole(*matrix).block(0, 0, a.rows, a.columns)));
    return matrix;
  }
  struct OnHost {
    std::unique_ptr<HostBuffer<Real>> buffer;
    HostBlock<Real> block;
    RowMajorView<Real> view() const { return block.view(); }
  };
  static OnHost on_host(DeviceMatrix<Real>& matrix, Index rows, Index columns) {
    auto buffer = backend_->allocate_host(rows * columns);
    const HostBlock<Real> block{buffer.get(), 0, rows, columns, columns};
    backend_->wait(backend_->download(whole(matrix).block(0, 0, rows, columns), block));
    return {std::move(buffer), block};
  }

  static inline std::unique_ptr<Timeline> timeline_;
  static inline std::unique_ptr<Backend<Real>> backend_;
};
TYPED_TEST_SUITE(TournamentPanelTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(TournamentPanelTest, FactorisesPanelsOfAnyShapeWithSmallMultipliers) {
  using Real = typename TypeParam::Real;
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

TYPED_TEST(TournamentPanelTest, IsBitwiseReproducible) {
  using Real = typename TypeParam::Real;
  Random random(6);
  const ColumnMajorMatrix<Real> a(300, 40, random);
  const auto once = this->factorise(a), again = this->factorise(a);
  EXPECT_EQ(once.pivots, again.pivots);
  EXPECT_EQ(once.factors.elements, again.factors.elements);
}

TYPED_TEST(TournamentPanelTest, ReportsTheFirstColumnWithoutAPivot) {
  using Real = typename TypeParam::Real;
  Random random(7);
  for (const Index zero : {0, 20, 33, 39}) {
    ColumnMajorMatrix<Real> a(200, 40, random);
    for (Index i = 0; i < a.rows; ++i) a.view()(i, zero) = 0;
    EXPECT_EQ(this->factorise(a).zero, zero);
  }
}

TYPED_TEST(TournamentPanelTest, TerminatesOnNanAndPropagatesIt) {
  using Real = typename TypeParam::Real;
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

// Rows of a panel whose L11 \ U11 and U12 come from other ranks.
TYPED_TEST(TournamentPanelTest, EliminatesAndReducesRowsBelowGivenFactors) {
  using Real = typename TypeParam::Real;
  Random random(9);
  struct Shape {
    Index columns, rows, right;
  };
  for (const Shape& shape : {Shape{1, 1, 0}, {5, 3, 2}, {32, 40, 7}, {33, 300, 90}, {64, 500, 0}, {64, 130, 70}}) {
    const Index columns = shape.columns, rows = shape.rows, right = shape.right, all = columns + rows;
    SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(rows) + " rows");
    std::vector<Real> strip_elements = random_elements<Real>(columns * all, random);
    make_well_conditioned(strip_elements.data(), columns, all, random);
    std::vector<Real> u12_elements = random_elements<Real>(columns * right, random);
    std::vector<Real> a22_elements = random_elements<Real>(rows * right, random);
    const RowMajorView<Real> strip{strip_elements.data(), columns, all, all};
    const RowMajorView<Real> u12{u12_elements.data(), columns, right, right};
    const RowMajorView<Real> a22{a22_elements.data(), rows, right, right};
    const auto strip_on_device = this->on_device(strip), u12_on_device = this->on_device(u12);
    const auto a22_on_device = this->on_device(a22);
    this->backend_->make_tournament_panel(all, columns, DeviceUse::always)
        ->solve_l21_and_update(whole(*strip_on_device), whole(*u12_on_device).block(0, 0, columns, right),
                               whole(*a22_on_device).block(0, 0, rows, right));
    const auto eliminated = this->on_host(*strip_on_device, columns, all);
    const auto reduced = this->on_host(*a22_on_device, rows, right);
    double error = 0, scale = 1;
    for (Index i = 0; i < rows; ++i) {
      const auto l21 = [&](Index k) { return static_cast<double>(eliminated.view()(k, columns + i)); };
      for (Index j = 0; j < columns; ++j) {  // L21 U11 = A21
        double sum = -static_cast<double>(strip(j, columns + i));
        for (Index k = 0; k <= j; ++k) sum += l21(k) * static_cast<double>(strip(j, k));
        error = std::max(error, std::abs(sum));
        scale = std::max(scale, std::abs(l21(j)));
      }
      for (Index j = 0; j < right; ++j) {
        double sum = static_cast<double>(reduced.view()(i, j)) - static_cast<double>(a22(i, j));
        for (Index k = 0; k < columns; ++k) sum += l21(k) * static_cast<double>(u12(k, j));
        error = std::max(error, std::abs(sum));
      }
    }
    EXPECT_LE(error, tolerance<Real>(columns) * scale);
    for (Index j = 0; j < columns; ++j) {
      for (Index k = 0; k < columns; ++k) EXPECT_EQ(eliminated.view()(j, k), strip(j, k));
    }
  }
}

TYPED_TEST(TournamentPanelTest, RejectsPanelsThatAreWiderThanTall) {
  EXPECT_FALSE(this->backend_->make_tournament_panel(10, 11, DeviceUse::always));
}

// Partial pivoting in one dispatch, whose work groups wait for each other. Software OpenGL runs one group.
template <class Case>
class PartialPanelTest : public testing::Test {
 protected:
  using Real = typename Case::Real;
  struct Factorised {
    std::vector<Real> factors;
    std::vector<Index> pivots;
    std::optional<Index> zero;
  };

  void SetUp() override {
    device_ = Case::any_device();
    if (device_ < 0) GTEST_SKIP() << "no device";
  }
  std::unique_ptr<Backend<Real>> make_backend(const compute::PartialPanelLimits& limits) {
    BackendOptions options;
    options.debug = true;
    options.device = device_;
    return Case::make(options, timeline_, {.stripe_width = 64, .partial_panel = limits});
  }
  static Factorised factorise(Backend<Real>& backend, const ColumnMajorMatrix<Real>& a) {
    const auto panel = backend.make_partial_panel(a.rows, a.columns, DeviceUse::always);
    EXPECT_TRUE(panel);
    return factorise(backend, *panel, a);
  }
  // Factorises the panel inside a larger matrix, `beside` at the same time. Other elements must not change.
  static Factorised factorise(
      Backend<Real>& backend, DevicePanel<Real>& panel, const ColumnMajorMatrix<Real>& a,
      const std::function<void()>& beside = [] {}) {
    Factorised result{{}, std::vector<Index>(static_cast<std::size_t>(a.columns)), {}};
    constexpr Index edge = 3;
    const Index rows = a.rows + 2 * edge, columns = a.columns + edge;
    const auto matrix = backend.allocate(columns, rows);
    const auto buffer = backend.allocate_host(columns * rows);
    std::fill_n(buffer->data(), columns * rows, Real(7));
    const HostBlock<Real> all{buffer.get(), 0, columns, rows, rows};
    ColumnMajorMatrix<Real> copy = a;
    for (Index j = 0; j < a.columns; ++j) std::copy_n(copy.view().column(j), a.rows, &all.view()(j, edge));
    backend.upload(all, whole(*matrix));
    panel.factorize(whole(*matrix).block(0, edge, a.columns, a.rows));
    beside();
    result.zero = panel.outcome(result.pivots);
    backend.wait(backend.download(whole(*matrix), all));
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) {
        if (i >= edge && i < edge + a.rows && j < a.columns) {
          result.factors.push_back(all.view()(j, i));
        } else {
          EXPECT_EQ(all.view()(j, i), Real(7)) << "row " << i << ", column " << j;
        }
      }
    }
    return result;
  }
  static void expect_equal(const Factorised& result, const Factorised& expected) {
    EXPECT_EQ(result.pivots, expected.pivots);
    EXPECT_EQ(result.zero, expected.zero);
    EXPECT_TRUE(result.factors == expected.factors);  // bit for bit
  }

  int device_ = -1;
  Timeline timeline_;
};
TYPED_TEST_SUITE(PartialPanelTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(PartialPanelTest, FactorisesPanelsOfAnyShapeWithMultipliersUpToOne) {
  using Real = typename TypeParam::Real;
  Random random(5);
  struct Shape {
    Index rows, columns;
  };
  const auto backend = this->make_backend({.rows_per_group = 64});
  for (const Shape& shape : {Shape{1, 1}, {5, 3}, {40, 40}, {64, 32}, {65, 33}, {200, 70}, {700, 97}, {300, 130}}) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    const ColumnMajorMatrix<Real> a(shape.rows, shape.columns, random);
    const auto result = this->factorise(*backend, a);
    EXPECT_FALSE(result.zero);
    for (Index j = 0; j < shape.columns; ++j) {
      ASSERT_GE(result.pivots[static_cast<std::size_t>(j)], j);
      ASSERT_LT(result.pivots[static_cast<std::size_t>(j)], shape.rows);
    }
    ColumnMajorMatrix<Real> factors = a;
    for (Index j = 0; j < shape.columns; ++j) {
      std::copy_n(result.factors.begin() + j * shape.rows, shape.rows, factors.view().column(j));
    }
    const auto [error, scale] = factorization_error(a, factors, result.pivots);
    EXPECT_LE(error, tolerance<Real>(shape.columns) * scale);
    double largest_multiplier = 0;
    for (Index j = 0; j < shape.columns; ++j) {
      for (Index i = j + 1; i < shape.rows; ++i) {
        largest_multiplier = std::max(largest_multiplier, std::abs(static_cast<double>(factors.view()(i, j))));
      }
    }
    EXPECT_LE(largest_multiplier, 1 + 4 * std::numeric_limits<Real>::epsilon());
  }
}

// In registers, streamed, and on a GPU with any number of groups, with random delays, beside an update: 200 times.
TYPED_TEST(PartialPanelTest, IsBitwiseEqualForAnyDistributionOfRows) {
  using Real = typename TypeParam::Real;
  Random random(6);
  const bool software = this->make_backend({})->info().software_device;
  const ColumnMajorMatrix<Real> a(software ? 250 : 4096, software ? 70 : 128, random);
  const auto expected = this->factorise(*this->make_backend({.rows_per_group = 256}), a);
  std::uniform_int_distribution<Index> any_groups(1, 64);
  std::uniform_int_distribution<int> any_size(0, 2);
  std::minstd_rand draw(7);
  for (int backends = 0; backends < (software ? 1 : 40); ++backends) {
    const Index size = backends == 0 ? 64 : Index{128} << any_size(draw);
    const Index groups = size == 64 ? 64 : any_groups(draw);
    SCOPED_TRACE(std::to_string(groups) + " groups of " + std::to_string(size));
    const auto backend =
        this->make_backend({.rows_per_group = size, .groups = groups, .delays = software || backends % 2 == 1});
    const auto panel = backend->make_partial_panel(a.rows, a.columns, DeviceUse::always);
    ASSERT_TRUE(panel);
    const auto trailing = backend->allocate(a.rows, a.rows);
    const auto l21 = backend->allocate(64, a.rows), u12 = backend->allocate(64, a.rows);
    const auto update = [&] { backend->update(whole(*l21), whole(*u12), whole(*trailing)); };
    for (int i = 0; i < (software ? 2 : 5); ++i) {
      this->expect_equal(this->factorise(*backend, *panel, a, update), expected);
    }
  }
}

TYPED_TEST(PartialPanelTest, CompilesProgramsOncePerBackend) {
  const auto backend = this->make_backend({.rows_per_group = 64});
  const CapturedLog log("%v");
  spdlog::default_logger()->set_level(spdlog::level::debug);
  const auto small = backend->make_partial_panel(50, 10, DeviceUse::always);
  const std::string first = log.lines();
  const auto other = backend->make_partial_panel(64, 40, DeviceUse::always);
  ASSERT_TRUE(small && other);
  EXPECT_NE(first.find("program compute/panel_partial.comp"), std::string::npos) << first;
  EXPECT_EQ(log.lines(), first);
}

TYPED_TEST(PartialPanelTest, TakesTheFirstOfEqualPivots) {
  using Real = typename TypeParam::Real;
  Random random(7);
  ColumnMajorMatrix<Real> a(130, 2, random);
  for (Index i = 0; i < a.rows; ++i) a.view()(i, 0) = i == 70 || i == 100 ? Real(-2) : Real(1);
  const auto result = this->factorise(*this->make_backend({.rows_per_group = 64}), a);
  EXPECT_EQ(result.pivots.front(), 70);
}

TYPED_TEST(PartialPanelTest, ReportsTheFirstColumnWithoutAPivot) {
  using Real = typename TypeParam::Real;
  Random random(8);
  const auto backend = this->make_backend({.rows_per_group = 64});
  for (const Index zero : {0, 20, 33, 39}) {
    ColumnMajorMatrix<Real> a(100, 40, random);
    for (Index i = 0; i < a.rows; ++i) a.view()(i, zero) = 0;
    EXPECT_EQ(this->factorise(*backend, a).zero, zero);
  }
}

TYPED_TEST(PartialPanelTest, TerminatesOnNanAndPropagatesIt) {
  using Real = typename TypeParam::Real;
  Random random(9);
  ColumnMajorMatrix<Real> a(150, 36, random);
  a.view()(70, 10) = std::numeric_limits<Real>::quiet_NaN();
  const auto result = this->factorise(*this->make_backend({}), a);
  EXPECT_TRUE(std::any_of(result.factors.begin(), result.factors.end(), [](Real x) { return std::isnan(x); }));
}

TYPED_TEST(PartialPanelTest, EndsWithAMessageIfAGroupNeverArrives) {
  using Real = typename TypeParam::Real;
  Random random(10);
  const ColumnMajorMatrix<Real> a(100, 40, random);
  const auto backend = this->make_backend({.rows_per_group = 64, .polls = 100, .absent_groups = 1});
  const auto panel = backend->make_partial_panel(a.rows, a.columns, DeviceUse::always);
  ASSERT_TRUE(panel);
  EXPECT_THAT([&] { this->factorise(*backend, *panel, a); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("gave up after 100 polls")));
}

}  // namespace
}  // namespace glinpack::test
