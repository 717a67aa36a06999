#include "matrix/distribution.hpp"

#include <gtest/gtest.h>

namespace glinpack {
namespace {

class EveryDistribution : public testing::TestWithParam<std::tuple<Index, Index, int>> {
 protected:
  BlockCyclic distribution{std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam())};
};

TEST_P(EveryDistribution, AssignsEveryIndexToOneProcessInAscendingOrder) {
  std::vector<Index> next(static_cast<std::size_t>(distribution.processes()), 0);
  for (Index g = 0; g < distribution.extent(); ++g) {
    const int owner = distribution.owner(GlobalIndex(g));
    ASSERT_LT(owner, distribution.processes());
    EXPECT_EQ(distribution.local(GlobalIndex(g)).value, next[static_cast<std::size_t>(owner)]++);
  }
  for (int p = 0; p < distribution.processes(); ++p) {
    EXPECT_EQ(distribution.local_extent(p), next[static_cast<std::size_t>(p)]) << "process " << p;
  }
}

TEST_P(EveryDistribution, LocalAndGlobalAreInverse) {
  for (int p = 0; p < distribution.processes(); ++p) {
    for (Index i = 0; i < distribution.local_extent(p); ++i) {
      const GlobalIndex g = distribution.global(LocalIndex(i), p);
      EXPECT_EQ(distribution.owner(g), p);
      EXPECT_EQ(distribution.local(g).value, i);
    }
  }
}

TEST_P(EveryDistribution, LowerBoundIsTheFirstLocalIndexNotBefore) {
  for (int p = 0; p < distribution.processes(); ++p) {
    for (Index g = 0; g <= distribution.extent() + 3; ++g) {
      Index expected = 0;
      while (expected < distribution.local_extent(p) && distribution.global(LocalIndex(expected), p).value < g)
        ++expected;
      EXPECT_EQ(distribution.lower_bound(GlobalIndex(g), p).value, expected) << "g = " << g << ", process " << p;
    }
  }
}

TEST_P(EveryDistribution, BlockWidthsAddUpToTheExtent) {
  Index sum = 0;
  for (Index b = 0; b < distribution.blocks(); ++b) {
    const Index width = distribution.width(BlockIndex(b));
    EXPECT_GE(width, 1);
    EXPECT_LE(width, distribution.nb());
    sum += width;
  }
  EXPECT_EQ(sum, distribution.extent());
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryDistribution,
                         testing::Combine(testing::Values<Index>(0, 1, 2, 7, 64, 65, 100),
                                          testing::Values<Index>(1, 3, 8, 64, 200), testing::Values(1, 2, 3, 7)));

TEST(Distribution, PlacesTheRightHandSideAfterTheLastColumn) {
  const Distribution distribution(10, 4, {2, 3});
  EXPECT_EQ(distribution.right_hand_side().value, 10);
  EXPECT_EQ(distribution.columns.extent(), 11);
  for (int column = 0; column < 3; ++column) {
    const bool has_b = column == distribution.columns.owner(distribution.right_hand_side());
    EXPECT_EQ(distribution.local_columns({0, column}), distribution.local_columns_of_a({0, column}) + (has_b ? 1 : 0));
  }
  EXPECT_EQ(distribution.passes(), 3);
  EXPECT_EQ(distribution.pass_width(2), 2);
}

TEST(Distribution, RejectsInvalidSizes) {
  EXPECT_THROW(BlockCyclic(-1, 4, 1), std::invalid_argument);
  EXPECT_THROW(BlockCyclic(4, 0, 1), std::invalid_argument);
  EXPECT_THROW(BlockCyclic(4, 4, 0), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
