#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"

namespace glinpack {
namespace {

// The output of HPL's generator for N = 5: 5 rows of 6 hexadecimal floats.
std::vector<std::vector<double>> hpl_matrix_of_order_5() {
  std::ifstream file(GLINPACK_TEST_DATA "/hpl_matrix_n5.txt");
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    rows.emplace_back();
    for (std::string word; words >> word;) rows.back().push_back(std::strtod(word.c_str(), nullptr));
  }
  return rows;
}

TEST(HplGenerator, MatchesTheHplGeneratorBitwise) {
  const auto expected = hpl_matrix_of_order_5();
  ASSERT_EQ(expected.size(), 5U);
  for (Index i = 0; i < 5; ++i) {
    ASSERT_EQ(expected[static_cast<std::size_t>(i)].size(), 6U);
    for (Index j = 0; j < 6; ++j) {
      EXPECT_EQ(hpl_element(5, i, j), expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
          << i << "," << j;
    }
  }
}

TEST(HplGenerator, JumpsEqualSingleSteps) {
  const HplJump one = hpl_jump(1);
  std::uint64_t state = hpl_seed;
  for (std::uint64_t steps = 0; steps < 200; ++steps) {
    EXPECT_EQ(hpl_jump(steps)(hpl_seed), state);
    state = one(state);
  }
  EXPECT_EQ(hpl_jump(1U << 20U)(hpl_jump((1U << 20U) + 5)(7)), hpl_jump((1U << 21U) + 5)(7));
}

TEST(HplSource, FillsEveryRanksPartWithTheSameMatrix) {
  const Index n = 23;
  const auto source = make_hpl_source(n);
  for (const GridShape grid : {GridShape{1, 1}, GridShape{2, 3}, GridShape{4, 1}, GridShape{1, 5}}) {
    for (const Index nb : {1, 4, 7, 30}) {
      const Distribution distribution(n, nb, grid);
      for (int p = 0; p < grid.rows; ++p) {
        for (int q = 0; q < grid.columns; ++q) {
          const Index rows = distribution.local_rows({p, q});
          const Index columns = distribution.local_columns({p, q});
          std::vector<double> part(static_cast<std::size_t>(rows * columns));
          source->fill(distribution, {p, q}, LocalIndex(0), {part.data(), rows, columns, columns});
          const auto elements = std::get<HplElements>(source->elements(distribution, {p, q}).value());
          ASSERT_EQ(static_cast<Index>(elements.rows.size()), rows);
          ASSERT_EQ(static_cast<Index>(elements.columns.size()), distribution.local_columns_of_a({p, q}));
          for (Index i = 0; i < rows; ++i) {
            for (Index j = 0; j < columns; ++j) {
              const GlobalIndex row = distribution.rows.global(LocalIndex(i), p);
              const GlobalIndex column = distribution.columns.global(LocalIndex(j), q);
              ASSERT_EQ(part[static_cast<std::size_t>(i * columns + j)], hpl_element(n, row.value, column.value));
              const HplJump& jump = elements.rows[static_cast<std::size_t>(i)];
              ASSERT_EQ(column.value < n ? hpl_value(jump(elements.columns[static_cast<std::size_t>(j)]))
                                         : source->right_hand_side(row),
                        hpl_element(n, row.value, column.value));
            }
          }
        }
      }
    }
  }
}

TEST(HplSource, AnotherSeedGivesAnotherMatrix) { EXPECT_NE(hpl_element(5, 1, 1, 1), hpl_element(5, 1, 1, 2)); }

}  // namespace
}  // namespace glinpack
