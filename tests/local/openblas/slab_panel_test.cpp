// Compares panels factorised by several threads, one slab of rows per thread, with the reference.
#include "openblas/slab_panel.hpp"

#include "base/threads.hpp"
#include "reference/reference_backend.hpp"
#include "tests/local/panel_checks.hpp"

namespace glinpack::test {
namespace {

template <class Real>
void expect_reference_factors(Index rows, Index columns, int threads) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", " << threads << " threads, " << sizeof(Real) * 8
                                  << " bits");
  Random random(static_cast<unsigned>(rows + columns));
  ColumnMajorMatrix<Real> actual(rows, columns, random);
  auto wanted = actual;
  std::vector<Index> actual_pivots(static_cast<std::size_t>(columns));
  std::vector<Index> wanted_pivots(static_cast<std::size_t>(columns));
  ThreadTeam team(threads);
  EXPECT_EQ(SlabPanel<Real>(team).factorize(actual.view(), actual_pivots), std::nullopt);
  EXPECT_EQ(make_reference_panel_arithmetic<Real>()->factorize_partial(wanted.view(), wanted_pivots), std::nullopt);
  ASSERT_EQ(actual_pivots, wanted_pivots);
  // both are within rounding of the exact factors; growth within a panel of random elements is small
  const double allowed = tolerance<Real>(columns) * static_cast<double>(columns) * largest_magnitude(wanted.elements);
  for (std::size_t i = 0; i < actual.elements.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(actual.elements[i]), static_cast<double>(wanted.elements[i]), allowed) << i;
  }
}

TEST(SlabPanel, MatchesTheReferencePivotsForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 5}) {
    for (const auto& [rows, columns] :
         {std::pair<Index, Index>{1, 1}, {3, 2}, {17, 17}, {40, 33}, {64, 16}, {200, 48}, {1000, 96}, {777, 130}}) {
      expect_reference_factors<float>(rows, columns, threads);
      expect_reference_factors<double>(rows, columns, threads);
    }
  }
}

TEST(SlabPanel, ReportsTheFirstColumnWithoutAPivotAndStopsOnAllThreads) {
  for (const int threads : {1, 2, 4}) {
    ThreadTeam team(threads);
    SlabPanel<double> panel(team);
    check_first_zero_column<double>(std::bind_front(&SlabPanel<double>::factorize, &panel));
  }
}

TEST(SlabPanel, TakesANanInAnySlabAsThePivot) {
  ThreadTeam team(3);
  for (const Index row : {0, 30, 99}) {
    Random random(4);
    ColumnMajorMatrix<double> a(100, 20, random);
    a.view()(row, 0) = std::numeric_limits<double>::quiet_NaN();
    std::vector<Index> pivots(20);
    SlabPanel<double>(team).factorize(a.view(), pivots);
    EXPECT_EQ(pivots[0], row);
  }
}

TEST(SlabPanel, PaysOnlyOnTallPanelsAndWithSeveralThreads) {
  ThreadTeam one(1), two(2), four(4);
  EXPECT_FALSE(SlabPanel<float>(one).pays(100'000, 128));
  EXPECT_FALSE(SlabPanel<float>(four).pays(1000, 128));
  EXPECT_FALSE(SlabPanel<float>(four).pays(100'000, 8));
  EXPECT_FALSE(SlabPanel<float>(two).pays(4096, 4096)) << "getrf is faster on square matrices";
  EXPECT_TRUE(SlabPanel<float>(four).pays(4096, 128));
}

TEST(ThreadTeam, RunsEveryThreadOncePerRunAndSynchronisesAtTheBarrier) {
  constexpr int members = 4;
  ThreadTeam team(members);
  EXPECT_EQ(team.members(), members);
  for (int run = 0; run < 50; ++run) {
    SpinBarrier barrier(members);
    std::vector<int> seen(members, 0);
    std::vector<int> sums(members, 0);
    team.run([&](int member) {
      seen[static_cast<std::size_t>(member)] += 1;
      barrier.arrive_and_wait();
      for (const int value : seen) sums[static_cast<std::size_t>(member)] += value;
    });
    EXPECT_EQ(seen, std::vector<int>(members, 1));
    EXPECT_EQ(sums, std::vector<int>(members, members));
  }
}

}  // namespace
}  // namespace glinpack::test
