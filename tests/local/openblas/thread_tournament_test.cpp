// Tournament pivoting (TSLU) of panels in host memory: properties that hold for any pivots.
#include "openblas/thread_tournament.hpp"

#include <set>

#include "base/row_interchanges.hpp"
#include "openblas/openblas_backend.hpp"
#include "openblas/panel_kernels.hpp"
#include "reference/reference_backend.hpp"
#include "tests/local/panel_checks.hpp"

namespace glinpack::test {
namespace {

std::vector<Index> chosen_from_0(std::vector<Index> chosen, Index first) {
  for (Index& row : chosen) row -= first;
  return chosen;
}

TEST(RowInterchanges, MoveTheChosenRowsToTheTopOneByOneOrAllAtOnce) {
  Random random(11);
  for (const Index rows : {1, 2, 5, 12, 40}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Index first = 3;
      std::vector<Index> all(static_cast<std::size_t>(rows));
      for (Index i = 0; i < rows; ++i) all[static_cast<std::size_t>(i)] = first + i;
      std::shuffle(all.begin(), all.end(), random);
      const auto count = static_cast<std::size_t>(trial) % all.size() + 1;
      const std::vector<Index> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
      const RowInterchanges found = bring_to_top(first, chosen);
      ASSERT_EQ(found.pivots.size(), count);
      std::vector<Index> one_by_one(static_cast<std::size_t>(first + rows));
      for (std::size_t i = 0; i < one_by_one.size(); ++i) one_by_one[i] = static_cast<Index>(i);
      auto at_once = one_by_one;
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_GE(found.pivots[i], first + static_cast<Index>(i));
        std::swap(one_by_one[static_cast<std::size_t>(first) + i],
                  one_by_one[static_cast<std::size_t>(found.pivots[i])]);
        EXPECT_EQ(one_by_one[static_cast<std::size_t>(first) + i], chosen[i]);
      }
      for (const RowMove& move : found.moves) {
        EXPECT_NE(move.from, move.to);
        at_once[static_cast<std::size_t>(move.to)] = move.from;
      }
      EXPECT_EQ(at_once, one_by_one);
      EXPECT_EQ(row_order_of(bring_to_top(0, chosen_from_0(chosen, first)).pivots), chosen_from_0(chosen, first));
    }
  }
}

template <class Real>
void expect_factorized_panel(Index rows, Index columns, int threads, TournamentShape shape) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", " << threads << " threads, blocks of "
                                  << shape.block << ", " << shape.arity << " threads a node, " << sizeof(Real) * 8
                                  << " bits");
  Random random(static_cast<unsigned>(rows + columns));
  ThreadTeam team(threads);
  TournamentPanel<Real> panel(team, shape);
  const ColumnMajorMatrix<Real> original(rows, columns, random);
  auto factors = original;
  std::vector<Index> pivots(static_cast<std::size_t>(columns));
  EXPECT_EQ(panel.factorize(factors.view(), pivots), std::nullopt);
  expect_factors(original, factors, pivots);
  // the same panel reuses its buffers; a second run is bitwise equal
  auto again = original;
  std::vector<Index> again_pivots(pivots.size());
  EXPECT_EQ(panel.factorize(again.view(), again_pivots), std::nullopt);
  EXPECT_EQ(again_pivots, pivots);
  EXPECT_EQ(again.elements, factors.elements);
}

TEST(TournamentPanel, FactorisesWithAnyThreadsBlocksAndArity) {
  for (const int threads : {1, 2, 3, 5}) {
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 1}, {3, 2}, {17, 17}, {40, 33}, {200, 48}, {777, 70}}) {
      for (const TournamentShape shape :
           {TournamentShape{8, 2, 1}, TournamentShape{16, 3, 5}, TournamentShape{32, 4, 1}}) {
        expect_factorized_panel<float>(rows, columns, threads, shape);
        expect_factorized_panel<double>(rows, columns, threads, shape);
      }
    }
  }
}

TEST(TournamentPanel, PaysIfSeveralThreadsHaveEnoughRows) {
  ThreadTeam one(1), four(4);
  EXPECT_FALSE(TournamentPanel<float>(one, {}).pays(100'000, 128));
  EXPECT_FALSE(TournamentPanel<float>(four, {}).pays(200, 32));
  EXPECT_FALSE(TournamentPanel<float>(four, {}).pays(4096, 4096));
  EXPECT_TRUE(TournamentPanel<float>(four, {}).pays(4096, 128));
}

TEST(TournamentPanel, ReportsTheFirstColumnWithoutAPivotAndStopsOnAllThreads) {
  for (const int threads : {1, 2, 4}) {
    ThreadTeam team(threads);
    TournamentPanel<double> panel(team, {8, 2, 1});
    check_first_zero_column<double>(std::bind_front(&TournamentPanel<double>::factorize, &panel));
  }
}

// Each slab is singular, with a row or a column of zeros; the whole panel is not.
TEST(TournamentPanel, FindsPivotsThatOnlyOneSlabHas) {
  ThreadTeam team(4);
  const Index columns = 16;
  for (const int slab : {0, 1, 3}) {
    Random random(5);
    ColumnMajorMatrix<double> original(64, columns, random);
    for (Index j = 0; j < columns; ++j) {
      const Index owner = (j + slab) % 4;
      for (Index i = 0; i < 64; ++i) {
        if (i / 16 != owner) original.view()(i, j) = 0;
      }
    }
    auto factors = original;
    std::vector<Index> pivots(columns);
    EXPECT_EQ(TournamentPanel<double>(team, {8, 2, 1}).factorize(factors.view(), pivots), std::nullopt);
    const auto [error, scale] = factorization_error(original, factors, pivots);
    EXPECT_LE(error, tolerance<double>(columns) * scale);
  }
}

TEST(TournamentPanel, TerminatesOnNansAndPropagatesThem) {
  ThreadTeam team(3);
  TournamentPanel<double> panel(team, {8, 2, 1});
  check_nan<double>(std::bind_front(&TournamentPanel<double>::factorize, &panel));
}

template <class Real>
void expect_rows_chosen(PanelArithmetic<Real>& arithmetic, Index rows, Index columns) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns);
  Random random(static_cast<unsigned>(rows * 7 + columns));
  ColumnMajorMatrix<Real> a(rows, columns, random);
  const auto before = a;
  const Index count = std::min(rows, columns);
  std::vector<Index> chosen(static_cast<std::size_t>(count), -1);
  ColumnMajorMatrix<Real> factors(count, columns, random);
  EXPECT_EQ(arithmetic.choose_rows(a.view(), chosen, factors.view()), std::nullopt);
  EXPECT_EQ(a.elements, before.elements);
  EXPECT_EQ(std::set<Index>(chosen.begin(), chosen.end()).size(), chosen.size());
  ColumnMajorMatrix<Real> rows_chosen(count, columns, random);
  for (Index i = 0; i < count; ++i) {
    const Index row = chosen[static_cast<std::size_t>(i)];
    ASSERT_TRUE(0 <= row && row < rows);
    for (Index j = 0; j < columns; ++j) rows_chosen.view()(i, j) = a.view()(row, j);
  }
  std::vector<Index> unmoved(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) unmoved[static_cast<std::size_t>(i)] = i;
  const auto [error, scale] = factorization_error(rows_chosen, factors, unmoved);
  EXPECT_LE(error, tolerance<Real>(columns) * scale);
}

template <class Real>
void expect_tournaments(PanelArithmetic<Real>& arithmetic) {
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{1, 1}, {1, 5}, {5, 1}, {7, 12}, {16, 16}, {300, 8}, {1000, 40}}) {
    expect_rows_chosen(arithmetic, rows, columns);
    if (rows < columns) continue;
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    Random random(9);
    const ColumnMajorMatrix<Real> original(rows, columns, random);
    auto factors = original;
    std::vector<Index> pivots(static_cast<std::size_t>(columns));
    EXPECT_EQ(arithmetic.factorize_tournament(factors.view(), pivots), std::nullopt);
    expect_factors(original, factors, pivots);
    if (columns < 5) continue;
    auto singular = original;
    std::fill_n(singular.view().column(4), rows, Real{0});
    EXPECT_EQ(arithmetic.factorize_tournament(singular.view(), pivots), 4);
  }
  EXPECT_EQ(arithmetic.factorize_tournament({nullptr, 0, 0, 1}, {}), std::nullopt);
  EXPECT_EQ(arithmetic.choose_rows({nullptr, 0, 0, 1}, {}, {nullptr, 0, 0, 1}), std::nullopt);
}

TEST(TournamentArithmetic, ChoosesRowsAndFactorisesInEveryImplementation) {
  expect_tournaments(*make_reference_panel_arithmetic<float>());
  expect_tournaments(*make_reference_panel_arithmetic<double>());
  for (const int threads : {1, 3}) {
    expect_tournaments(*make_openblas_panel_arithmetic<float>(threads));
    expect_tournaments(*make_openblas_panel_arithmetic<double>(threads));
  }
}

TEST(TournamentArithmetic, OfOneThreadIsPartialPivoting) {
  Random random(2);
  ColumnMajorMatrix<double> a(500, 40, random);
  auto b = a;
  std::vector<Index> partial(40), tournament(40);
  const auto arithmetic = make_openblas_panel_arithmetic<double>(1);
  arithmetic->factorize_partial(a.view(), partial);
  arithmetic->factorize_tournament(b.view(), tournament);
  EXPECT_EQ(tournament, partial);
  EXPECT_EQ(b.elements, a.elements);
}

}  // namespace
}  // namespace glinpack::test
