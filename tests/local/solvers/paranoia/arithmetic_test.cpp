// Exact results, and the errors of computed results relative to them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solvers/paranoia/errors.hpp"
#include "solvers/paranoia/operations.hpp"

namespace glinpack::arithmetic {
namespace {

template <class Real>
OperationErrors judged(Operation operation, const Operands<Real>& operands, Real result) {
  OperandSet<Real> set;
  set.add(operands);
  return errors_of<Real>(operation, set, {&result, 1});
}

template <class Real>
double error(Operation operation, const Operands<Real>& operands, Real computed) {
  return error_in_ulps(computed, exact_result(operation, operands));
}

template <class Real>
class Arithmetic : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Arithmetic, Reals);

TYPED_TEST(Arithmetic, ErrorsMatchHandComputedOnes) {
  using Real = TypeParam;
  constexpr Real ulp = std::numeric_limits<Real>::epsilon();  // of [1, 2)
  // 1 + ulp / 2 is halfway between 1 and 1 + ulp
  EXPECT_EQ(error<Real>(Operation::addition, {1, ulp / 2, 0}, 1), -0.5);
  EXPECT_EQ(error<Real>(Operation::addition, {1, ulp / 2, 0}, 1 + ulp), 0.5);
  // 1 - ulp / 4 is in the binade below 1, whose ulp is half as large
  EXPECT_EQ(error<Real>(Operation::subtraction, {1, ulp / 4, 0}, 1), 0.5);
  EXPECT_EQ(error<Real>(Operation::subtraction, {1, ulp / 4, 0}, 1 - ulp / 2), -0.5);
  // (1 + ulp)^2 = 1 + 2 ulp + ulp^2
  EXPECT_EQ(error<Real>(Operation::multiplication, {1 + ulp, 1 + ulp, 0}, 1 + 2 * ulp), -double{ulp});
  // (1 + ulp)^2 - (1 + 2 ulp) = ulp^2: exact when rounded once
  EXPECT_EQ(error<Real>(Operation::fma, {1 + ulp, 1 + ulp, -1 - 2 * ulp}, ulp * ulp), 0);
  EXPECT_EQ(error<Real>(Operation::division, {1, 4, 0}, Real{0.25}), 0);
  EXPECT_EQ(error<Real>(Operation::division, {1, 4, 0}, Real{0.25} + ulp), 4);
  // 1/3 = 1/4 + 1/16 + ...: between two numbers 2^-2 ulp apart, a third of the distance from one of them
  const Real third = Real{1} / 3;
  EXPECT_NEAR(std::abs(error<Real>(Operation::reciprocal, {1, 3, 0}, third)), 1.0 / 3, 1e-12);
  // the ulp of denormals is the smallest denormal
  constexpr Real smallest = std::numeric_limits<Real>::denorm_min();
  EXPECT_EQ(error<Real>(Operation::addition, {smallest, smallest, 0}, 0), -2);
  EXPECT_EQ(error<Real>(Operation::division, {smallest, 2, 0}, 0), -0.5);
}

TYPED_TEST(Arithmetic, IntermediateResultsDoNotOverflowOrUnderflow) {
  using Real = TypeParam;
  constexpr Real largest = std::numeric_limits<Real>::max(), min = std::numeric_limits<Real>::min();
  EXPECT_EQ(error<Real>(Operation::division, {largest, largest, 0}, 1), 0);
  EXPECT_EQ(error<Real>(Operation::division, {min, min, 0}, 1), 0);
  EXPECT_NEAR(error<Real>(Operation::addition, {largest, min, 0}, largest), 0, 1e-60);
  EXPECT_EQ(error<Real>(Operation::fma, {largest, Real{1}, -largest}, 0), 0);
  EXPECT_EQ(error<Real>(Operation::subtraction, {largest, largest, 0}, 0), 0);
  // far outside the range of Real
  EXPECT_EQ(exact_result<Real>(Operation::multiplication, {largest, largest, 0}).binade(),
            2 * std::numeric_limits<Real>::max_exponent - 1);
}

TYPED_TEST(Arithmetic, ThisProcessorRoundsToNearestAndKeepsDenormals) {
  using Real = TypeParam;
  for (const Operation operation : all_operations) {
    SCOPED_TRACE(std::string(name_of(operation)));
    for (const OperandSet<Real>& set :
         {directed_operands<Real>(operation), random_operands<Real>(operation, 4000, 1)}) {
      std::vector<Real> results;
      for (Index i = 0; i < set.size(); ++i) results.push_back(computed_by_host(operation, set.at(i)));
      const OperationErrors errors = errors_of<Real>(operation, set, results);
      EXPECT_TRUE(errors.passed());
      EXPECT_GT(errors.ordinary, 0);
      EXPECT_EQ(errors.nearest, errors.ordinary);
      EXPECT_EQ(errors.kept, errors.denormals);
      EXPECT_EQ(errors.signs, errors.zeros);
      EXPECT_EQ(errors.as_ieee, errors.special);
      EXPECT_GT(errors.range.max - errors.range.min, 0.9);
    }
  }
}

TYPED_TEST(Arithmetic, RandomOperandsReachHalfwayCasesAndAreReproducible) {
  using Real = TypeParam;
  for (const Operation operation : {Operation::addition, Operation::subtraction, Operation::multiplication}) {
    const OperandSet<Real> set = random_operands<Real>(operation, 400, 3);
    Index halfway = 0;
    for (Index i = 0; i < set.size(); ++i) {
      const Operands<Real> o = set.at(i);
      halfway += std::abs(error(operation, o, computed_by_host(operation, o))) == 0.5 ? 1 : 0;
    }
    EXPECT_GE(halfway, 30) << name_of(operation);
    EXPECT_EQ(random_operands<Real>(operation, 400, 3).a, set.a);
    EXPECT_NE(random_operands<Real>(operation, 400, 4).a, set.a);
  }
}

TYPED_TEST(Arithmetic, AppliesTheGlslRequirements) {
  using Real = TypeParam;
  constexpr Real ulp = std::numeric_limits<Real>::epsilon();
  // either neighbour of a result between two numbers is correct; for a representable result, only the number itself
  EXPECT_TRUE(judged<Real>(Operation::addition, {1, ulp / 4, 0}, 1 + ulp).passed());
  EXPECT_FALSE(judged<Real>(Operation::addition, {1, ulp / 4, 0}, 1 + 2 * ulp).passed());
  EXPECT_FALSE(judged<Real>(Operation::addition, {1, ulp, 0}, 1).passed());
  EXPECT_FALSE(judged<Real>(Operation::multiplication, {1, 1, 0}, 1 + ulp).passed());
  EXPECT_TRUE(judged<Real>(Operation::division, {3, 2, 0}, Real{1.5} + 2 * ulp).passed());
  EXPECT_FALSE(judged<Real>(Operation::division, {3, 2, 0}, Real{1.5} + 3 * ulp).passed());
  EXPECT_FALSE(judged<Real>(Operation::addition, {1, 1, 0}, std::numeric_limits<Real>::quiet_NaN()).passed());
  EXPECT_FALSE(judged<Real>(Operation::subtraction, {1, 1, 0}, ulp).passed());
  EXPECT_TRUE(judged<Real>(Operation::subtraction, {1, 1, 0}, Real{-0.0}).passed());
}

TYPED_TEST(Arithmetic, FmaMayRoundTwice) {
  using Real = TypeParam;
  constexpr Real ulp = std::numeric_limits<Real>::epsilon();
  const Operands<Real> cancels{1 + ulp, 1 + ulp, -1 - 2 * ulp};
  const OperationErrors once = judged<Real>(Operation::fma, cancels, ulp * ulp);
  const OperationErrors twice = judged<Real>(Operation::fma, cancels, 0);
  const OperationErrors wrong = judged<Real>(Operation::fma, cancels, 3 * ulp);
  EXPECT_TRUE(once.passed());
  EXPECT_EQ(once.nearest, 1);
  EXPECT_TRUE(twice.passed());
  EXPECT_EQ(twice.nearest, 0);
  EXPECT_FALSE(wrong.passed());
}

TYPED_TEST(Arithmetic, DenormalsMayOnlyBecomeZero) {
  using Real = TypeParam;
  constexpr Real min = std::numeric_limits<Real>::min();
  const Operands<Real> below{min, Real{0.5}, 0};
  OperationErrors errors = judged<Real>(Operation::multiplication, below, min / 2);
  EXPECT_EQ(errors.kept, 1);
  errors = judged<Real>(Operation::multiplication, below, 0);
  EXPECT_EQ(errors.flushed, 1);
  EXPECT_TRUE(errors.passed());
  errors = judged<Real>(Operation::multiplication, below, min);
  EXPECT_EQ(errors.neither, 1);
  EXPECT_FALSE(errors.passed());
  // least / 2 + least, with the operands flushed to zero
  EXPECT_EQ(judged<Real>(Operation::addition, {min / 2, min, 0}, min).flushed, 1);
  // 1 + a denormal does not show whether denormals are flushed
  EXPECT_EQ(judged<Real>(Operation::addition, {min / 2, 1, 0}, 1).denormals, 0);
}

TYPED_TEST(Arithmetic, UncheckedClassesAreCounted) {
  using Real = TypeParam;
  constexpr Real infinity = std::numeric_limits<Real>::infinity(), largest = std::numeric_limits<Real>::max();
  OperationErrors errors = judged<Real>(Operation::division, {1, 0, 0}, infinity);
  EXPECT_EQ(errors.as_ieee, 1);
  errors = judged<Real>(Operation::multiplication, {largest, 2, 0}, largest);
  EXPECT_EQ(errors.special, 1);
  EXPECT_EQ(errors.as_ieee, 0);
  EXPECT_TRUE(errors.passed());
  errors = judged<Real>(Operation::reciprocal, {1, largest, 0}, 0);  // |b| beyond 2^126, 2^1022
  EXPECT_EQ(errors.special, 1);
  errors = judged<Real>(Operation::multiplication, {Real{-0.0}, 1, 0}, 0);
  EXPECT_EQ(errors.zeros, 1);
  EXPECT_EQ(errors.signs, 0);
}

TYPED_TEST(Arithmetic, ErrorsOfSeveralSetsAreCombined) {
  using Real = TypeParam;
  constexpr Real ulp = std::numeric_limits<Real>::epsilon();
  OperationErrors all;
  all.add(judged<Real>(Operation::addition, {1, ulp / 4, 0}, 1));
  all.add(judged<Real>(Operation::addition, {1, ulp / 4, 0}, 1 + ulp));
  all.add(judged<Real>(Operation::subtraction, {1, 1, 0}, 0));
  EXPECT_EQ(all.ordinary, 2);
  EXPECT_EQ(all.zeros, 1);
  EXPECT_EQ(all.range.min, -0.25);
  EXPECT_EQ(all.range.max, 0.75);
  EXPECT_EQ(all.range.max_at.b, double{ulp / 4});
  EXPECT_THROW(errors_of<Real>(Operation::addition, OperandSet<Real>{}, std::vector<Real>(1)), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack::arithmetic
