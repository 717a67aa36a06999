#include "kernels/region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace glinpack::compute {
namespace {

/// rows x columns, row-major, in a buffer larger than the region.
Region plain(Index rows, Index columns, Index leading_dimension, Index first = 0) {
  return {1, Index{1} << 24, first, 0, rows, columns, leading_dimension, 0, 0};
}

/// A whole matrix in stripes.
Region striped(Index rows, Index columns, Index stripe_width) {
  const Index stripes = (columns + stripe_width - 1) / stripe_width;
  return {1, stripes * rows * stripe_width, 0, 0, rows, columns, stripe_width, stripe_width, rows * stripe_width};
}

/// The same, with two stripes in each of `buffers`.
Region split(Index rows, Index columns, Index stripe_width, const std::vector<RegionBuffer>& buffers) {
  Region region = striped(rows, columns, stripe_width);
  region.buffer = buffers.front().id;
  region.buffer_elements = buffers.front().elements;
  region.buffers = buffers.data();
  region.stripes_each = 2;
  return region;
}

Index offset_of(const Region& region, Index i, Index j) {
  return region.first + i * region.leading_dimension + region.across(j);
}

TEST(Region, OfABlockHasTheElementsOfTheMatrix) {
  for (const Region& whole : {striped(7, 300, 64), plain(7, 300, 320, 5)}) {
    for (const Index row : {0, 3}) {
      for (const Index column : {0, 1, 63, 64, 130, 299}) {
        const Region block = whole.block(row, column, 7 - row, 300 - column);
        const Region inner = block.block(1, 0, 1, 300 - column);
        for (Index j = 0; j < 300 - column; ++j) {
          ASSERT_EQ(offset_of(block, 2, j), offset_of(whole, row + 2, column + j));
          ASSERT_EQ(offset_of(inner, 0, j), offset_of(whole, row + 1, column + j));
        }
      }
    }
  }
}

TEST(Region, InStripesHasEveryElementAtADistinctOffset) {
  const Region region = striped(5, 200, 64);
  std::vector<int> uses(static_cast<std::size_t>(region.buffer_elements));
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 200; ++j) ++uses.at(static_cast<std::size_t>(offset_of(region, i, j)));
  }
  EXPECT_EQ(std::count(uses.begin(), uses.end(), 1), 5 * 200);
  EXPECT_EQ(std::count(uses.begin(), uses.end(), 0), region.buffer_elements - 5 * 200);
}

TEST(Window, BeginsAtAMultipleOf64AndHoldsTheRegion) {
  std::mt19937 random(3);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  for (const Region& whole : {striped(50, 400, 64), plain(50, 400, 448, 7)}) {
    for (int trial = 0; trial < 1000; ++trial) {
      const Index row = below(50), column = below(400);
      const Region region = whole.block(row, column, 1 + below(50 - row), 1 + below(400 - column));
      const Window window = window_of(region);
      EXPECT_EQ(window.begin % window_alignment, 0);
      EXPECT_EQ(window.begin + window.first, region.first);
      EXPECT_LT(window.first, window_alignment);
      EXPECT_LE(window.begin + window.size, region.buffer_elements);
      EXPECT_GE(offset_of(region, 0, 0), window.begin);
      EXPECT_GE(window.begin + window.size, offset_of(region, region.rows - 1, region.columns - 1) + 1);
    }
  }
}

TEST(WindowParts, AreInOneBufferEachAndCoverEveryElementOnce) {
  constexpr Index rows = 90, columns = 300;  // five stripes
  const Index stripe = rows * 64;
  const std::vector<RegionBuffer> buffers{{1, 2 * stripe}, {2, 2 * stripe}, {3, stripe}};
  const Region whole = split(rows, columns, 64, buffers);
  EXPECT_FALSE(whole.in_one_buffer());
  EXPECT_TRUE(whole.block(0, 128, rows, 128).in_one_buffer());
  EXPECT_FALSE(whole.block(0, 127, rows, 2).in_one_buffer());
  for (const Index limit : {3000, 6000, 15000, 100000}) {
    std::vector<std::vector<int>> uses;
    for (const RegionBuffer& buffer : buffers) uses.emplace_back(static_cast<std::size_t>(buffer.elements));
    const auto use = [&](const Region& region) {
      for_window_parts(region, limit, 8, [&](Index i, Index j, Index part_rows, Index part_columns) {
        const Region part = region.block(i, j, part_rows, part_columns);
        ASSERT_TRUE(part.in_one_buffer());
        const Window window = window_of(part);
        EXPECT_LE(window.size, limit);
        EXPECT_LE(window.begin + window.size, part.buffer_elements);
        for (Index row = 0; row < part_rows; ++row) {
          for (Index column = 0; column < part_columns; ++column) {
            ++uses.at(part.buffer - 1).at(static_cast<std::size_t>(offset_of(part, row, column)));
          }
        }
      });
    };
    // nested blocks at any offset
    for (const Index from : {0, 5, 64, 130, 256}) {
      const Index next = from == 0 ? 5 : from == 5 ? 64 : from == 64 ? 130 : from == 130 ? 256 : columns;
      const Region part = whole.block(0, from, rows, columns - from).block(0, 0, rows, next - from);
      use(part.row_range(0, 7));
      use(part.row_range(7, rows - 7));
    }
    Index used = 0;
    for (const std::vector<int>& buffer : uses) {
      used += std::count(buffer.begin(), buffer.end(), 1);
      EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 2), 0);
    }
    EXPECT_EQ(used, rows * columns);
  }
}

TEST(Window, OfAHostRegionEndsWithItsBuffer) {
  const Region region{1, 128, 0, 0, 2, 50, 60, 0, 0};
  EXPECT_EQ(window_of(region).size, 128);
}

TEST(RowsPerWindow, AreTheMostThatFit) {
  for (const Index limit : {400, 1000, 5000, 100000}) {
    const Region region = plain(1000, 100, 128, 63);
    const Index rows = rows_per_window(region, limit);
    EXPECT_GE(rows, 1);
    EXPECT_LE(window_of(region.row_range(0, rows)).size, limit);
    EXPECT_GT(window_of(region.row_range(0, rows + 3)).size, limit) << "more rows would fit";
  }
}

TEST(RowsPerWindow, ThrowsIfNoRowFits) {
  EXPECT_THROW(rows_per_window(plain(10, 1000, 1024), 1000), std::runtime_error);
}

TEST(WindowParts, CoverTheRegionOnceAndFit) {
  for (const Region& whole : {striped(90, 700, 64), plain(90, 700, 704)}) {
    for (const Index limit : {900, 3000, 6000, 15000, 40000, 100000}) {
      for (const Index column : {0, 5, 64, 250}) {
        const Region region = whole.block(3, column, 80, 700 - column);
        std::vector<int> covered(static_cast<std::size_t>(region.rows * region.columns));
        for_window_parts(region, limit, 8, [&](Index i, Index j, Index rows, Index columns) {
          EXPECT_LE(window_of(region.block(i, j, rows, columns)).size, limit);
          EXPECT_TRUE(i % 8 == 0 || rows < 8) << "part does not begin at a multiple of the unit";
          for (Index row = i; row < i + rows; ++row) {
            for (Index c = j; c < j + columns; ++c) ++covered.at(static_cast<std::size_t>(row * region.columns + c));
          }
        });
        EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), region.rows * region.columns);
      }
    }
  }
}

TEST(WindowParts, AreWholeStripesIfTheyFit) {
  const Region region = striped(100, 640, 64);
  Index parts = 0;
  for_window_parts(region, 3 * 6400 + 200, 8, [&](Index i, Index j, Index rows, Index columns) {
    ++parts;
    EXPECT_EQ(i, 0);
    EXPECT_EQ(rows, 100);
    EXPECT_EQ(j % 192, 0);
    EXPECT_EQ(columns, j == 576 ? 64 : 192);
  });
  EXPECT_EQ(parts, 4);
}

}  // namespace
}  // namespace glinpack::compute
