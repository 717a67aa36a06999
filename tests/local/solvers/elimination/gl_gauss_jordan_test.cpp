// Compares every variant of Gauss-Jordan elimination on a device with LAPACK. What holds for PLU, too, is tested of
// both.
#include "solvers/elimination/elimination.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack::solvers {
namespace {

using test::singular_step;
using test::Values;
using test::view;

std::string describe(const EliminationSettings& settings) {
  return std::string(name_of(settings.variant)) + " " + std::string(name_of(settings.pivoting)) + " " +
         std::string(name_of(settings.measure));
}

std::vector<EliminationSettings> all_settings() {
  std::vector<EliminationSettings> all;
  for (const EliminationVariant variant : all_elimination_variants) {
    for (const EliminationPivoting pivoting : {EliminationPivoting::partial, EliminationPivoting::full}) {
      all.push_back({variant, pivoting, PivotMeasure::magnitudes});
    }
  }
  return all;
}

/// A method with settings that it has.
struct Solver {
  const Elimination* method;
  EliminationSettings settings;
};

std::vector<Solver> all_solvers() {
  std::vector<Solver> all;
  for (const EliminationSettings& settings : all_settings()) all.push_back({&gauss_jordan, settings});
  for (const EliminationVariant variant : all_elimination_variants) all.push_back({&plu_packed, {.variant = variant}});
  return all;
}

std::string describe(const Solver& solver) {
  return (solver.method == &plu_packed ? "PLU, " : "Gauss-Jordan, ") + describe(solver.settings);
}

class GlGaussJordan : public testing::Test {
 protected:
  template <class Real>
  Values<Real> solve(Values<Real> a, Values<Real> b, const Solver& solver) {
    Values<Real> x(b.rows, b.columns);
    DenseSystem<Real> system{.a = view(a), .b = view(b), .x = view(x)};
    solver.method->make(device_, system, solver.settings).run();
    return x;
  }
  template <class Real>
  Values<Real> solve(const Values<Real>& a, const Values<Real>& b, const EliminationSettings& settings) {
    return solve(a, b, Solver{&gauss_jordan, settings});
  }
  Index step_found_singular(const Values<float>& a, const Solver& solver, std::string* message = nullptr) {
    return singular_step([&] { solve(a, test::random_values<float>(a.rows, 1, 3), solver); }, message);
  }

  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlGaussJordan, EveryVariantSolvesOddAndEvenSizes) {
  for (const EliminationSettings& settings : all_settings()) {
    for (const auto& [n, columns] : {std::pair{1, 1}, {2, 3}, {5, 2}, {16, 1}, {33, 5}, {50, 4}}) {
      SCOPED_TRACE(describe(settings) + ", n " + std::to_string(n));
      const Values<float> a = test::random_values<float>(n, n, 7), b = test::random_values<float>(n, columns, 2);
      test::expect_solution(a, solve(a, b, settings), b);
    }
  }
}

TEST_F(GlGaussJordan, DoublePrecisionIsOfTheVariantCompute) {
  for (const EliminationPivoting pivoting : all_elimination_pivotings) {
    EliminationSettings settings{.variant = EliminationVariant::compute, .pivoting = pivoting};
    settings.precision = Precision::double_;
    for (const auto& [n, columns] : {std::pair{1, 1}, {5, 2}, {33, 5}, {50, 4}}) {
      SCOPED_TRACE(describe(settings) + ", n " + std::to_string(n));
      const auto a = test::random_values<double>(n, n, 7), b = test::random_values<double>(n, columns, 2);
      test::expect_solution(a, solve(a, b, settings), b);
    }
    Values<double> huge = test::random_values<double>(7, 7, 7), near = huge;
    for (double& element : huge.elements) element *= 1e200;
    test::expect_solution(huge, solve(huge, test::identity<double>(7), settings), test::identity<double>(7));
    for (Index j = 0; j < 7; ++j) near(6, j) = near(3, j) * (1 + 1e-7 * static_cast<double>(j));
    test::expect_solution(near, solve(near, test::identity<double>(7), settings), test::identity<double>(7));
  }
  const Values<double> one = test::identity<double>(1);
  for (const EliminationVariant variant : {EliminationVariant::double_rows, EliminationVariant::plain}) {
    EliminationSettings settings{.variant = variant};
    settings.precision = Precision::double_;
    EXPECT_THROW(solve(one, one, settings), std::invalid_argument);
  }
  EXPECT_THROW(solve(one, one, {.variant = EliminationVariant::compute}), std::invalid_argument);  // settings of single
}

TEST_F(GlGaussJordan, EveryVariantInverts) {
  for (const EliminationSettings& settings : all_settings()) {
    for (const Index n : {1, 6, 31}) {
      SCOPED_TRACE(describe(settings) + ", n " + std::to_string(n));
      const Values<float> a = test::random_values<float>(n, n, 7), identity = test::identity(n);
      test::expect_solution(a, solve(a, identity, settings), identity);
    }
  }
}

TEST_F(GlGaussJordan, TheStepsSolveSeveralSystems) {
  for (const Solver& solver : all_solvers()) {
    SCOPED_TRACE(describe(solver));
    Values<float> a(9, 9), b = test::random_values<float>(9, 2, 2), x(9, 2);
    DenseSystem<float> system{.a = view(a), .b = view(b), .x = view(x)};
    const Steps steps = solver.method->make(device_, system, solver.settings);
    EXPECT_EQ(singular_step([&] { steps.run(); }), 0);
    for (const unsigned seed : {4U, 5U}) {
      test::copy_elements(test::random_values<float>(9, 9, seed), a);
      steps.run();
      test::expect_solution(a, x, b);
    }
  }
}

TEST_F(GlGaussJordan, ScaleOfTheMatrixDoesNotMatter) {
  for (const EliminationSettings& settings : all_settings()) {
    for (const float scale : {1e-20F, 1e18F}) {
      SCOPED_TRACE(describe(settings) + ", scale " + std::to_string(scale));
      Values<float> a = test::random_values<float>(7, 7, 7), b = test::random_values<float>(7, 1, 2);
      for (float& element : a.elements) element *= scale;
      for (float& element : b.elements) element *= scale;
      test::expect_solution(a, solve(a, b, settings), b);
    }
  }
}

TEST_F(GlGaussJordan, SingularAndNearlySingularMatricesAreReportedWithTheirStep) {
  for (const Solver& solver : all_solvers()) {
    const Index block = block_size(solver.settings.variant);
    SCOPED_TRACE(describe(solver));
    Values<float> column = test::random_values<float>(12, 12, 5), rows = test::random_values<float>(14, 14, 6),
                  near = test::random_values<float>(8, 8, 5);
    for (Index i = 0; i < 12; ++i) column(i, 6) = 0;
    for (Index j = 0; j < 14; ++j) rows(9, j) = 2 * rows(2, j);
    for (Index j = 0; j < 8; ++j) near(7, j) = near(3, j) * (1 + 1e-7F * static_cast<float>(j));
    std::string message;
    // full pivoting eliminates the column of zeros last
    const Index expected = solver.settings.pivoting == EliminationPivoting::full ? 12 / block - 1 : 6 / block;
    EXPECT_EQ(step_found_singular(column, solver, &message), expected);
    EXPECT_THAT(message, testing::HasSubstr("step " + std::to_string(expected + 1)));
    EXPECT_EQ(step_found_singular(rows, solver), 14 / block - 1);
    EXPECT_EQ(step_found_singular(near, solver), 8 / block - 1);
  }
}

// A limitation of double rows: rows within a block are not interchanged.
TEST_F(GlGaussJordan, ARegularMatrixMayLackAPivotInDoubleRowsOnly) {
  Values<float> a = test::identity(4), b = test::random_values<float>(4, 1, 2);
  std::swap(a(0, 0), a(1, 0));
  std::swap(a(1, 1), a(0, 1));
  EXPECT_EQ(step_found_singular(a, {&gauss_jordan, {EliminationVariant::double_rows}}), 0);
  EXPECT_EQ(step_found_singular(a, {&gauss_jordan, {EliminationVariant::compute}}), 0);
  test::expect_solution(a, solve(a, b, {EliminationVariant::plain}), b);
}

TEST_F(GlGaussJordan, TheFormulaPrintedInThePaperSolves) {
  for (const EliminationVariant variant : {EliminationVariant::double_rows, EliminationVariant::compute}) {
    const Values<float> a = test::random_values<float>(20, 20, 7), b = test::random_values<float>(20, 2, 2);
    test::expect_solution(a, solve(a, b, {variant, EliminationPivoting::partial, PivotMeasure::as_signed}), b);
  }
}

TEST_F(GlGaussJordan, RejectsNonFiniteNumbersAndNamesTheirRowAndColumn) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Values<float> good = test::identity(3), bad = good, right(3, 1);
    bad(1, 2) = value;
    EXPECT_THROW(solve(bad, right, EliminationSettings{}), std::invalid_argument);
    right(2, 0) = value;
    EXPECT_THAT([&] { solve(good, right, EliminationSettings{}); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("row 3, column 1 of B")));
  }
}

TEST_F(GlGaussJordan, RejectsExtentsThatDoNotMatch) {
  Values<float> a = test::identity(4), wide(4, 5), b(4, 2), few(3, 2), one(4, 1), x(4, 2);
  for (DenseSystem<float> system : {DenseSystem<float>{.a = view(wide), .b = view(b), .x = view(x)},
                                    {.a = view(a), .b = view(few), .x = view(x)},
                                    {.a = view(a), .b = view(one), .x = view(x)},
                                    {.a = view(a), .b = view(b), .x = view(few)},
                                    {.a = view(a), .b = view(b), .x = view(x), .factors = view(x)}}) {
    for (const Elimination& method : {gauss_jordan, plu_packed}) {
      EXPECT_THROW(method.make(device_, system, {}), std::invalid_argument);
    }
  }
}

TEST_F(GlGaussJordan, SolversLeaveNoGlObjectsNorDoFailedOnes) {
  device_.staging(1 << 12);
  const Index side = device_.description().texture_side;
  const int before = test::count_gl_objects(*device_.context());
  for (const Solver& solver : all_solvers()) {
    SCOPED_TRACE(describe(solver));
    {
      Values<float> zeros(6, 6), b(6, 1), x(6, 1);
      DenseSystem<float> system{.a = view(zeros), .b = view(b), .x = view(x)};
      const Steps steps = solver.method->make(device_, system, solver.settings);
      EXPECT_GT(test::count_gl_objects(*device_.context()), before);
      EXPECT_THROW(steps.run(), SingularMatrixError);
    }
    EXPECT_THROW(solve(Values<float>(6, 5), Values<float>(6, 1), solver), std::invalid_argument);
    const Index columns = side * block_size(solver.settings.variant) + 1;
    EXPECT_THAT(solver.method->obstacle(device_.description(), 2, columns, solver.settings),
                testing::HasSubstr(std::to_string(side)));
    EXPECT_THROW(solve(Values<float>(2, 2), Values<float>(2, columns), solver), std::runtime_error);
    EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
  }
}

}  // namespace
}  // namespace glinpack::solvers
