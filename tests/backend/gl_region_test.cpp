#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "local/gl/compute/region.hpp"

namespace glinpack::gl {
namespace {

TEST(GlWindow, BeginsAtAMultipleOf64AndHoldsTheRegionWithItsOverrun) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const Index leading_dimension = static_cast<Index>(64 * (1 + random() % 5));
    const Index columns = static_cast<Index>(1 + random() % static_cast<unsigned>(leading_dimension));
    const Index rows = static_cast<Index>(1 + random() % 50);
    const Index column = static_cast<Index>(random() % static_cast<unsigned>(leading_dimension - columns + 1));
    const Index row = static_cast<Index>(random() % 10);
    const Region region{1,
                        (rows + row) * leading_dimension + overrun,
                        row * leading_dimension + column,
                        rows,
                        columns,
                        leading_dimension};
    const Window window = window_of(region);
    EXPECT_EQ(window.begin % window_alignment, 0);
    EXPECT_EQ(window.begin + window.first, region.first);
    EXPECT_LT(window.first, window_alignment);
    EXPECT_LE(window.begin + window.size, region.buffer_elements);
    EXPECT_GE(window.size, window.first + (rows - 1) * leading_dimension + columns + overrun);
  }
}

TEST(GlWindow, OfAHostRegionEndsWithItsBuffer) {
  const Region region{1, 128, 0, 2, 50, 60};
  EXPECT_EQ(window_of(region).size, 128);
}

TEST(GlRowsPerWindow, AreTheMostThatFit) {
  for (const Index limit : {400, 1000, 5000, 100000}) {
    const Region region{1, 1 << 24, 63, 1000, 100, 128};
    const Index rows = rows_per_window(region, limit);
    EXPECT_GE(rows, 1);
    EXPECT_LE(window_of(region.row_range(0, rows)).size, limit);
    EXPECT_GT(window_of(region.row_range(0, rows + 3)).size, limit) << "a few rows more do not fit";
  }
}

TEST(GlRowsPerWindow, ThrowsWhereNoRowFits) {
  const Region region{1, 1 << 24, 0, 10, 1000, 1024};
  EXPECT_THROW(rows_per_window(region, 1000), std::runtime_error);
}

}  // namespace
}  // namespace glinpack::gl
