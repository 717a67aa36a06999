#include "lu/no_transport.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace glinpack {
namespace {

TEST(SyntheticPivots, AreRowsThatMayBePivots) {
  for (const GridShape grid : {GridShape{1, 1}, {2, 3}, {3, 2}, {5, 7}}) {
    const Distribution distribution(97, 9, grid);
    for (Index pass = 0; pass < distribution.passes(); ++pass) {
      const int pivot_row = pivot_position(grid, pass).row;
      for (const Pivoting pivoting : all_pivotings) {
        const auto pivots = synthetic_pivots(distribution, pivoting, pass);
        ASSERT_EQ(pivots.size(), static_cast<std::size_t>(distribution.pass_width(pass)));
        for (std::size_t j = 0; j < pivots.size(); ++j) {
          EXPECT_GE(pivots[j].value, pass * 9 + static_cast<Index>(j));
          EXPECT_LT(pivots[j].value, 97);
          if (pivoting == Pivoting::local) {
            EXPECT_EQ(distribution.rows.owner(pivots[j]), pivot_row);
          }
        }
        EXPECT_EQ(pivots, synthetic_pivots(distribution, pivoting, pass)) << "not the same on every rank";
      }
    }
  }
}

// A row of the panel stays in its process row with probability 1 / P, approximately.
TEST(SyntheticPivots, ExchangeAsManyRowsAsPivotsOfARandomMatrix) {
  for (const int rows : {2, 4, 8}) {
    const Distribution distribution(4096, 64, {rows, 1});
    const auto exchanged = static_cast<double>(rows_exchanged(distribution, Pivoting::partial));
    // each pivot moves two rows, each with probability 1 - 1 / P; fewer if a pass moves a row twice
    const double expected = 2 * 4096 * (1 - 1.0 / rows);
    EXPECT_GT(exchanged, 0.8 * expected);
    EXPECT_LT(exchanged, 1.05 * expected);
  }
  EXPECT_EQ(rows_exchanged(Distribution(4096, 64, {4, 1}), Pivoting::local), 0);
  EXPECT_EQ(rows_exchanged(Distribution(4096, 64, {1, 4}), Pivoting::partial), 0);
}

template <class Real>
void expect_small_numbers_of_both_signs(Index n) {
  std::vector<Real> values(1000);
  fill_with_placeholders(std::span(values), n);
  int negative = 0;
  for (const Real value : values) {
    EXPECT_TRUE(std::isnormal(value));
    EXPECT_LE(std::fabs(static_cast<double>(value)), 0.5000001 / static_cast<double>(n));
    EXPECT_GE(std::fabs(static_cast<double>(value)), 0.2499999 / static_cast<double>(n));
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_GT(negative, 400);
  EXPECT_LT(negative, 600);
  EXPECT_GT(std::set<Real>(values.begin(), values.end()).size(), 900U) << "equal rows would make matrices singular";
}

TEST(Placeholders, AreSmallNormalNumbersOfBothSigns) {
  for (const Index n : {Index{1}, Index{100}, Index{1'000'000}}) {
    expect_small_numbers_of_both_signs<float>(n);
    expect_small_numbers_of_both_signs<double>(n);
  }
}

}  // namespace
}  // namespace glinpack
