// LU without pivoting on a device: compares every method and strategy with plain loops, and its counts with Table 1 of
// the paper.

#include <algorithm>
#include <cmath>

#include "solvers/accuracy.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/lu_study/lu_drawing.hpp"
#include "solvers/lu_study/lu_orders.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack::solvers {
namespace {

using test::singular_step;
using test::Values;
using test::view;
using Work = LuDrawing::Work;

/// Diagonally dominant: no pivoting needed, elements of U at most twice A's.
Values<float> dominant(Index n, unsigned seed) {
  Values<float> a = test::random_values<float>(n, n, seed);
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<float>(2 * n);
  return a;
}

Values<double> exact_factors(const Values<float>& a) {
  Values<double> exact(a.rows, a.columns);
  exact.elements.assign(a.elements.begin(), a.elements.end());
  EXPECT_EQ(factorize_without_pivoting<double>(view(exact)), std::nullopt);
  return exact;
}

void expect_factors(Values<float> a, Values<float> factors) {
  EXPECT_LE(elementwise_residual(view(a), view(factors)), largest_scaled_residual);
  const Values<double> exact = exact_factors(a);
  double largest = 0;
  for (const double element : exact.elements) largest = std::max(largest, std::abs(element));
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.columns; ++j) {
      EXPECT_NEAR(double{factors(i, j)}, exact(i, j), tolerance<float>(a.rows) * largest) << i << ", " << j;
    }
  }
}

std::vector<LuSettings> all_lu_settings() {
  std::vector<LuSettings> all;
  for (const LuMethod method : all_lu_methods) {
    for (const LuStrategy strategy : all_lu_strategies) all.push_back({method, strategy});
  }
  return all;
}

std::string text_of(const LuSettings& settings, Index n) {
  return std::string(name_of(settings.method)) + " " + std::string(name_of(settings.strategy)) + ", n " +
         std::to_string(n);
}

/// A matrix, its factors, and the drawing that computes them.
struct Drawn {
  Drawn(Device& device, const LuSettings& settings, Values<float> of)
      : a(std::move(of)),
        factors(a.rows, a.rows),
        system{.a = view(a), .factors = view(factors)},
        drawing(device, system, settings) {}
  void factorize() {
    drawing.load();
    drawing.compute();
    drawing.store();
  }

  Values<float> a, factors;
  DenseSystem<float> system;
  LuDrawing drawing;
};

class GlLuMethods : public testing::Test {
 protected:
  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlLuMethods, EveryMethodAndStrategyMatchesPlainLoops) {
  for (const LuSettings& settings : all_lu_settings()) {
    for (const Index n : {1, 2, 4, 5, 8, 13, 30}) {
      SCOPED_TRACE(text_of(settings, n));
      Drawn drawn(device_, settings, dominant(n, 3));
      for (const unsigned seed : {3U, 4U}) {
        test::copy_elements(dominant(n, seed), drawn.a);
        drawn.factorize();
        expect_factors(drawn.a, drawn.factors);
      }
    }
  }
}

TEST_F(GlLuMethods, CountsEqualTable1) {
  for (const LuSettings& settings : all_lu_settings()) {
    for (const Index n : {4, 20}) {
      SCOPED_TRACE(text_of(settings, n));
      Drawn drawn(device_, settings, dominant(n, 1));
      drawn.factorize();
      const LuDrawing& drawing = drawn.drawing;
      const std::optional<LuCounts> paper = lu_table1(settings, n);
      ASSERT_TRUE(paper);
      EXPECT_EQ(drawing.counts().passes, paper->passes);
      EXPECT_EQ(drawing.counts().copies, paper->copies);
      EXPECT_EQ(drawing.counts().copied_bytes, paper->copied_bytes);
      // the elements that a step changes; in M3 and M4 also the others in its texels
      EXPECT_GE(drawing.counts().drawn_texels * (vectorised(settings.method) ? 4 : 1), n * (n * n - 1) / 3);
    }
  }
}

TEST_F(GlLuMethods, AccessesAloneCountTheSameWorkWithoutCopies) {
  constexpr Index n = 12;
  for (const LuSettings& settings : all_lu_settings()) {
    SCOPED_TRACE(text_of(settings, n));
    Drawn drawn(device_, settings, dominant(n, 2));
    LuDrawing& drawing = drawn.drawing;
    drawn.factorize();
    const LuCounts all = drawing.counts();
    drawing.compute(Work::access);
    EXPECT_EQ(drawing.counts().passes, all.passes);
    EXPECT_EQ(drawing.counts().copies, all.copies);
    EXPECT_EQ(drawing.counts().copied_bytes, 0);
    EXPECT_EQ(drawing.counts().drawn_texels, all.drawn_texels);
    EXPECT_EQ(drawing.counts().read_bytes, all.read_bytes);
    drawn.factorize();
    expect_factors(drawn.a, drawn.factors);
  }
}

/// Expects the values that the shader of the access-only run is defined to draw.
TEST_F(GlLuMethods, AccessesAloneReadTheTexelsOfTheDecomposition) {
  constexpr Index n = 9;
  for (const LuMethod method : all_lu_methods) {
    SCOPED_TRACE(name_of(method));
    Drawn drawn(device_, {method, LuStrategy::switching}, dominant(n, 5));
    drawn.drawing.load();
    drawn.drawing.compute(Work::access);
    drawn.drawing.store();
    Values<float> expected = drawn.a;
    for (Index i = 0; i < n; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        const float multiplier = std::min(expected(j, i), expected(i, i));
        for (Index k = i + 1; k < n; ++k) {
          expected(j, k) = std::min(expected(j, k), std::max(multiplier, expected(i, k)));
        }
        expected(j, i) = multiplier;
      }
    }
    EXPECT_EQ(drawn.factors.elements, expected.elements);
  }
}

TEST_F(GlLuMethods, PartsOfATimedRunAreNotNegativeAndAddUp) {
  constexpr Index n = 10;
  for (const LuSettings& settings : all_lu_settings()) {
    SCOPED_TRACE(text_of(settings, n));
    Drawn drawn(device_, settings, dominant(n, 6));
    drawn.drawing.load();
    const LuDrawing::Seconds seconds = drawn.drawing.compute_timed(Work::whole);
    EXPECT_GT(seconds.passes, 0);
    EXPECT_EQ(seconds.copies > 0, settings.strategy == LuStrategy::copying);
    EXPECT_GE(seconds.commands, 0);
    EXPECT_NEAR(seconds.passes + seconds.copies + seconds.commands, seconds.whole, 1e-12);
    drawn.drawing.store();
    expect_factors(drawn.a, drawn.factors);
  }
}

TEST_F(GlLuMethods, DivisionByReciprocalsRoundsTwice) {
  constexpr Index n = 16;
  for (const LuMethod method : all_lu_methods) {
    SCOPED_TRACE(name_of(method));
    Drawn drawn(device_, {method, LuStrategy::switching, LuDivision::reciprocal}, dominant(n, 3));
    drawn.factorize();
    expect_factors(drawn.a, drawn.factors);
    if (!device_.description().software) continue;  // GLSL allows 2.5 ULP
    for (Index i = 1; i < n; ++i) EXPECT_EQ(drawn.factors(i, 0), drawn.a(i, 0) * (1 / drawn.a(0, 0))) << i;
  }
}

TEST_F(GlLuMethods, EveryOrderMatchesPlainLoops) {
  for (const LuOrder order : all_lu_orders) {
    for (const Index n : {1, 2, 3, 9, 20}) {
      SCOPED_TRACE(std::string(name_of(order)) + ", n " + std::to_string(n));
      Values<float> a = dominant(n, 3), factors(n, n);
      const DenseSystem<float> system{.a = view(a), .factors = view(factors)};
      for (const Steps& steps : {make_lu_order(device_, system, order), make_lu_order_on_host(system, order)}) {
        factors.elements.assign(factors.elements.size(), 0.0F);
        steps.run();
        expect_factors(a, factors);
      }
    }
  }
}

TEST_F(GlLuMethods, ReportsTheStepOfATooSmallPivot) {
  Values<float> zero = dominant(9, 7), nearly = dominant(9, 8);
  for (Index j = 0; j < 9; ++j) {
    zero(5, j) = 0;                                                          // row 6 stays 0
    nearly(3, j) = nearly(2, j) * (1 + 1e-7F * static_cast<float>(j == 8));  // row 4 becomes nearly 0 in step 3
  }
  for (const LuSettings& settings : all_lu_settings()) {
    SCOPED_TRACE(text_of(settings, 9));
    Drawn drawn(device_, settings, zero);
    std::string message;
    EXPECT_EQ(singular_step([&] { drawn.factorize(); }, &message), 5);
    EXPECT_THAT(message, testing::HasSubstr("step 6 of 9"));
    test::copy_elements(nearly, drawn.a);
    EXPECT_EQ(singular_step([&] { drawn.factorize(); }), 3);
    test::copy_elements(dominant(9, 9), drawn.a);
    drawn.factorize();
    expect_factors(drawn.a, drawn.factors);
  }
  Values<float> factors(9, 9);
  const DenseSystem<float> system{.a = view(zero), .factors = view(factors)};
  EXPECT_EQ(singular_step([&] { make_unpivoted_lu(test::any_gl_device(), 1, {}, system).run(); }), 5);
  for (const LuOrder order : all_lu_orders) {
    EXPECT_EQ(singular_step([&] { make_lu_order(device_, system, order).run(); }), 5) << name_of(order);
    EXPECT_EQ(singular_step([&] { make_lu_order_on_host(system, order).run(); }), 5) << name_of(order);
  }
}

TEST_F(GlLuMethods, TheBlockedMethodMatchesPlainLoops) {
  for (const Index n : {1, 2, 63, 64, 65, 150}) {
    SCOPED_TRACE(n);
    Values<float> a(n, n), factors(n, n);
    const DenseSystem<float> system{.a = view(a), .factors = view(factors)};
    for (const LuDivision division : all_lu_divisions) {
      const Steps steps = make_unpivoted_lu(test::any_gl_device(), 1, {}, system, division);
      for (const unsigned seed : {1U, 2U}) {
        test::copy_elements(dominant(n, seed), a);
        steps.run();
        expect_factors(a, factors);
      }
      const bool reciprocal = division == LuDivision::reciprocal;
      for (Index i = 1; i < n; ++i) {
        EXPECT_EQ(factors(i, 0), reciprocal ? a(i, 0) * (1 / a(0, 0)) : a(i, 0) / a(0, 0)) << i;
      }
    }
  }
}

TEST_F(GlLuMethods, RejectsUnsupportedSettingsAndLeavesNoGlObjects) {
  device_.staging(1 << 12);
  const int before = test::count_gl_objects(*device_.context());
  for (const LuSettings& settings : all_lu_settings()) {
    Drawn drawn(device_, settings, dominant(4, 1));
    drawn.factorize();
    drawn.drawing.compute_timed(Work::whole);
    drawn.a(2, 1) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(drawn.drawing.load(), std::invalid_argument);
    EXPECT_THROW(Drawn(device_, settings, Values<float>(4, 5)), std::invalid_argument);
    const Index side = device_.description().texture_side;
    EXPECT_THAT(LuDrawing::obstacle(device_.description(), side + 1, settings),
                testing::HasSubstr(std::to_string(side)));
  }
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

}  // namespace
}  // namespace glinpack::solvers
