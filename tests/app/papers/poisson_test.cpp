// The criteria for the results of `glinpack-papers poisson`.
#include "app/papers/poisson.hpp"

#include <gmock/gmock.h>

#include "solvers/poisson/poisson_problem.hpp"

namespace glinpack::app {
namespace {

using ::testing::HasSubstr;

constexpr auto none = PoissonPreconditioner::none;

TEST(PoissonTable, MultigridIsCheckedAgainstTheProvenBound) {
  const std::optional<ModeCheck> check =
      check_poisson({64, Precision::double_, PoissonPreconditioner::multigrid, 6, 7.9e-4});
  EXPECT_TRUE(check->passed());
  EXPECT_DOUBLE_EQ(check->tolerance, poisson_discretisation_bound(64));
}

TEST(PoissonTable, ThePapersSizesAreCheckedAgainstThePaper) {
  EXPECT_TRUE(check_poisson({64, Precision::double_, none, 96, 7.78114e-4})->passed());
  EXPECT_FALSE(check_poisson({64, Precision::double_, none, 96, 7.78116e-4})->passed());
  const std::optional<ModeCheck> iterations = check_poisson({64, Precision::double_, none, 97, 7.7811e-4});
  EXPECT_FALSE(iterations->passed());
  EXPECT_THAT(iterations->against, HasSubstr("96 iterations"));
}

TEST(PoissonTable, OtherSizesAreCheckedAgainstTheProvenBound) {
  const double bound = poisson_discretisation_bound(100);
  EXPECT_TRUE(check_poisson({100, Precision::double_, none, 150, bound})->passed());
  EXPECT_FALSE(check_poisson({100, Precision::double_, none, 150, 1.01 * bound})->passed());
  // every value of the paper is within the bound
  for (const PaperPoisson& row : paper_poisson_table()) {
    EXPECT_LT(row.largest_error, poisson_discretisation_bound(row.n));
  }
}

TEST(PoissonTable, SinglePrecisionAllowsForRoundingAndIsNotCheckedIfRoundingDominates) {
  const std::optional<ModeCheck> check = check_poisson({64, Precision::single, none, 99, 1e-3});
  EXPECT_DOUBLE_EQ(check->tolerance, poisson_discretisation_bound(64) + poisson_rounding_bound(64, Precision::single));
  EXPECT_TRUE(check_poisson({1294, Precision::single, none, 99, 1e-3}));
  EXPECT_FALSE(check_poisson({1295, Precision::single, none, 99, 1e-3}));
  EXPECT_TRUE(check_poisson({1295, Precision::double_, none, 99, 1e-3}));
}

}  // namespace
}  // namespace glinpack::app
