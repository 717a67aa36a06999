// Panels factorised on a compute device: by tournament pivoting, P A = L U for any pivots that TSLU chooses,
// and by partial pivoting.

#include <random>
#include <string>

#include "compute/partial_panel.hpp"
#include "gl/gl_compute.hpp"
#include "tests/captured_log.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/panel_checks.hpp"

namespace glinpack::test {
namespace {

template <class Case>
class PanelTest : public testing::Test {
 protected:
  using Real = typename Case::Real;

  void SetUp() override {
    if (Case::any_device() < 0) GTEST_SKIP() << "no device";
  }
  std::unique_ptr<Backend<Real>> make_backend(const ComputeLimits& limits) {
    const BackendOptions options{.device = Case::any_device(), .debug = true};
    return Case::make(options, timeline_, limits);
  }
  // Factorises the panel inside a larger matrix, `beside` at the same time. Other elements must not change.
  static std::optional<Index> factorize(
      Backend<Real>& backend, DevicePanel<Real>& panel, ColumnMajorView<Real> a, std::span<Index> pivots,
      const std::function<void()>& beside = [] {}) {
    constexpr Index edge = 3;
    Values<Real> around(a.columns + edge, a.rows + 2 * edge);
    std::fill(around.elements.begin(), around.elements.end(), Real(7));
    for (Index j = 0; j < a.columns; ++j) std::copy_n(a.column(j), a.rows, &around(j, edge));
    const auto matrix = on_device(backend, around);
    panel.factorize(whole(*matrix).block(0, edge, a.columns, a.rows));
    beside();
    const std::optional<Index> zero = panel.outcome(pivots);
    auto factors = from_device(backend, *matrix);
    for (Index j = 0; j < a.columns; ++j) {
      std::copy_n(&factors(j, edge), a.rows, a.column(j));
      std::fill_n(&factors(j, edge), a.rows, Real(7));
    }
    EXPECT_THAT(factors.elements, testing::Each(Real(7))) << "elements beside the panel";
    return zero;
  }
  struct Factorised {
    ColumnMajorMatrix<Real> factors;
    std::vector<Index> pivots;
    friend bool operator==(const Factorised& one, const Factorised& other) {  // bit for bit
      return one.pivots == other.pivots && one.factors.elements == other.factors.elements;
    }
  };
  static Factorised factorised(
      Backend<Real>& backend, DevicePanel<Real>& panel, const ColumnMajorMatrix<Real>& a,
      const std::function<void()>& beside = [] {}) {
    Factorised result{a, std::vector<Index>(static_cast<std::size_t>(a.columns))};
    EXPECT_EQ(factorize(backend, panel, result.factors.view(), result.pivots, beside), std::nullopt);
    return result;
  }

  Timeline timeline_;
};

template <class Case>
class TournamentPanelTest : public PanelTest<Case> {
 protected:
  using Real = typename Case::Real;
  void SetUp() override {
    PanelTest<Case>::SetUp();
    // Few rows per group and narrow stripes: small panels have several tree levels and cross stripes.
    if (!this->IsSkipped()) backend_ = this->make_backend({.stripe_width = 64, .rows_per_group = 64});
  }
  PanelMethod<Real> method() {
    return [this](ColumnMajorView<Real> a, std::span<Index> pivots) {
      const auto panel = backend_->make_tournament_panel(a.rows, a.columns, DeviceUse::always);
      return this->factorize(*backend_, *panel, a, pivots);
    };
  }

  std::unique_ptr<Backend<Real>> backend_;
};
TYPED_TEST_SUITE(TournamentPanelTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(TournamentPanelTest, FactorisesPanelsOfAnyShapeWithSmallMultipliers) {
  for (const auto& [rows, columns] : std::initializer_list<std::pair<Index, Index>>{
           {1, 1}, {5, 3}, {40, 40}, {64, 32}, {65, 33}, {200, 70}, {700, 97}, {2100, 8}, {300, 130}, {420, 300}}) {
    check_factors(this->method(), rows, columns);
  }
}

TYPED_TEST(TournamentPanelTest, IsBitwiseReproducible) {
  Random random(6);
  const ColumnMajorMatrix<typename TypeParam::Real> a(300, 40, random);
  const auto panel = this->backend_->make_tournament_panel(a.rows, a.columns, DeviceUse::always);
  EXPECT_TRUE(this->factorised(*this->backend_, *panel, a) == this->factorised(*this->backend_, *panel, a));
}

TYPED_TEST(TournamentPanelTest, ReportsTheFirstColumnWithoutAPivot) { check_first_zero_column(this->method()); }

TYPED_TEST(TournamentPanelTest, TerminatesOnNanAndPropagatesIt) { check_nan(this->method()); }

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
    auto& backend = *this->backend_;
    auto strip = random_values<Real>(columns, all, 1);
    make_well_conditioned(strip.elements.data(), columns, all, random);
    const auto u12 = random_values<Real>(columns, right, 2), a22 = random_values<Real>(rows, right, 3);
    const auto strip_on_device = on_device(backend, strip), u12_on_device = on_device(backend, u12);
    const auto a22_on_device = on_device(backend, a22);
    backend.make_tournament_panel(all, columns, DeviceUse::always)
        ->solve_l21_and_update(whole(*strip_on_device), whole(*u12_on_device), whole(*a22_on_device));
    const auto eliminated = from_device(backend, *strip_on_device), reduced = from_device(backend, *a22_on_device);
    double error = 0, scale = 1;
    for (Index i = 0; i < rows; ++i) {
      const auto l21 = [&](Index k) { return static_cast<double>(eliminated(k, columns + i)); };
      for (Index j = 0; j < columns; ++j) {  // L21 U11 = A21
        double sum = -static_cast<double>(strip(j, columns + i));
        for (Index k = 0; k <= j; ++k) sum += l21(k) * static_cast<double>(strip(j, k));
        error = std::max(error, std::abs(sum));
        scale = std::max(scale, std::abs(l21(j)));
      }
      for (Index j = 0; j < right; ++j) {
        double sum = static_cast<double>(reduced(i, j)) - static_cast<double>(a22(i, j));
        for (Index k = 0; k < columns; ++k) sum += l21(k) * static_cast<double>(u12(k, j));
        error = std::max(error, std::abs(sum));
      }
    }
    EXPECT_LE(error, tolerance<Real>(columns) * scale);
    for (Index j = 0; j < columns; ++j) {
      for (Index k = 0; k < columns; ++k) EXPECT_EQ(eliminated(j, k), strip(j, k));
    }
  }
}

TYPED_TEST(TournamentPanelTest, RejectsPanelsThatAreWiderThanTall) {
  EXPECT_FALSE(this->backend_->make_tournament_panel(10, 11, DeviceUse::always));
}

// Partial pivoting in one dispatch, whose work groups wait for each other. Software OpenGL runs one group.
template <class Case>
class PartialPanelTest : public PanelTest<Case> {
 protected:
  using Real = typename Case::Real;
  std::unique_ptr<Backend<Real>> make_backend(const compute::PartialPanelLimits& limits) {
    return PanelTest<Case>::make_backend({.stripe_width = 64, .partial_panel = limits});
  }
  PanelMethod<Real> method() {
    return [this, backend = std::shared_ptr(make_backend({.rows_per_group = 64}))](ColumnMajorView<Real> a,
                                                                                   std::span<Index> pivots) {
      const auto panel = backend->make_partial_panel(a.rows, a.columns, DeviceUse::always);
      return this->factorize(*backend, *panel, a, pivots);
    };
  }
};
TYPED_TEST_SUITE(PartialPanelTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(PartialPanelTest, FactorisesPanelsOfAnyShapeWithMultipliersUpToOne) {
  using Real = typename TypeParam::Real;
  const auto method = this->method();
  for (const auto& [rows, columns] : std::initializer_list<std::pair<Index, Index>>{
           {1, 1}, {5, 3}, {40, 40}, {64, 32}, {65, 33}, {200, 70}, {700, 97}, {300, 130}}) {
    check_factors(method, rows, columns, 1 + 4 * std::numeric_limits<Real>::epsilon());
  }
}

// In registers, streamed, and on a GPU with any number of groups, with random delays, beside an update: 200 times.
TYPED_TEST(PartialPanelTest, IsBitwiseEqualForAnyDistributionOfRows) {
  using Real = typename TypeParam::Real;
  Random random(6);
  const bool software = this->make_backend({})->info().software_device;
  const ColumnMajorMatrix<Real> a(software ? 250 : 4096, software ? 70 : 128, random);
  const auto one_group = this->make_backend({.rows_per_group = 256});
  const auto expected =
      this->factorised(*one_group, *one_group->make_partial_panel(a.rows, a.columns, DeviceUse::always), a);
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
      EXPECT_TRUE(this->factorised(*backend, *panel, a, update) == expected);
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
  std::vector<Index> pivots(2);
  this->method()(a.view(), pivots);
  EXPECT_EQ(pivots.front(), 70);
}

TYPED_TEST(PartialPanelTest, ReportsTheFirstColumnWithoutAPivot) { check_first_zero_column(this->method()); }

TYPED_TEST(PartialPanelTest, TerminatesOnNanAndPropagatesIt) { check_nan(this->method()); }

TYPED_TEST(PartialPanelTest, EndsWithAMessageIfAGroupNeverArrives) {
  using Real = typename TypeParam::Real;
  Random random(10);
  const ColumnMajorMatrix<Real> a(100, 40, random);
  const auto backend = this->make_backend({.rows_per_group = 64, .polls = 100, .absent_groups = 1});
  const auto panel = backend->make_partial_panel(a.rows, a.columns, DeviceUse::always);
  ASSERT_TRUE(panel);
  EXPECT_THAT([&] { this->factorised(*backend, *panel, a); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("gave up after 100 polls")));
}

}  // namespace
}  // namespace glinpack::test
