// Ways in which rows change places over a process column: all give the same factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "backend/registry.hpp"
#include "lu/run.hpp"
#include "tests/mpi/factors.hpp"
#include "tests/mpi/world.hpp"

namespace glinpack {
namespace {

using test::expect_equal;
using test::factorize_and_gather;
using test::Size;

// the last ones: ranks without rows, and blocks larger than what a rank holds
constexpr Size sizes[] = {{30, 3}, {45, 8}, {64, 16}, {1, 1}, {5, 8}, {50, 33}};
// gl-compute adds in another order where rows of L are not aligned, as those below another L11 may not be
constexpr Size sizes_on_device[] = {{50, 36}, {40, 8}};

struct Way {
  Index pieces;
  int lookahead;
  Pivoting pivoting;
};
constexpr Way ways[] = {{3, 1, Pivoting::partial}, {1, 0, Pivoting::partial}, {2, 1, Pivoting::tournament}};

std::vector<GridShape> grids_with_this_many_ranks() {
  std::vector<GridShape> grids;
  const int size = test::world_size();
  for (const GridShape grid : {GridShape{1, 1}, {2, 1}, {4, 1}, {2, 2}, {1, 4}, {5, 1}, {6, 1}, {3, 2}, {2, 3}}) {
    if (grid.size() == size || (size == 6 && grid.size() == 5)) grids.push_back(grid);
  }
  return grids;
}

template <class Real>
void expect_the_same_factors(const std::string& backend, const ProcessGrid& grid, RunParameters parameters) {
  const auto source = make_hpl_source(parameters.n);
  const auto expected = factorize_and_gather<Real>(parameters, grid, backend, *source);
  for (const RowSwapKind kind : {RowSwapKind::binary_exchange, RowSwapKind::spread_roll, RowSwapKind::mix}) {
    parameters.row_swap.kind = kind;
    parameters.row_swap.threshold = 11;  // some passes with few columns left, others with more
    SCOPED_TRACE(name_of(kind));
    const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source);
    if (grid.is_root()) expect_equal(factors, expected);
  }
}

class RowSwaps : public testing::TestWithParam<std::string> {
 protected:
  bool on_device() const { return computes_on_device(GetParam()); }
};

TEST_P(RowSwaps, GiveBitwiseTheFactorsOfTheDirectExchange) {
  for (const GridShape shape : grids_with_this_many_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    if (!grid.active()) continue;
    const auto of_backend = on_device() ? std::span<const Size>(sizes_on_device) : std::span<const Size>(sizes);
    for (std::size_t i = 0; i < of_backend.size(); ++i) {
      const Size size = of_backend[i];
      const Way& way = ways[i % std::size(ways)];  // in turn
      RunParameters parameters;
      parameters.n = size.n;
      parameters.nb = size.nb;
      parameters.pivoting = way.pivoting;
      parameters.lookahead = way.lookahead;
      parameters.row_swap.pieces = way.pieces;
      SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns << ", N = " << size.n
                                      << ", nb = " << size.nb << ", " << way.pieces << " pieces, look-ahead "
                                      << way.lookahead << ", " << name_of(way.pivoting));
      if (on_device()) {
        expect_the_same_factors<float>(GetParam(), grid, parameters);
      } else {
        expect_the_same_factors<double>(GetParam(), grid, parameters);
      }
    }
  }
}

// Naive loops add in the same order wherever a piece ends.
TEST(RowSwapPieces, GiveBitwiseTheSameFactorsWithEveryPivoting) {
  for (const GridShape shape : grids_with_this_many_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::column_major);
    if (!grid.active()) continue;
    for (const Size size : sizes) {
      for (const Pivoting pivoting : all_pivotings) {
        const auto source = make_hpl_source(size.n);
        RunParameters parameters;
        parameters.n = size.n;
        parameters.nb = size.nb;
        parameters.pivoting = pivoting;
        const auto expected = factorize_and_gather<double>(parameters, grid, "reference", *source);
        const Index pieces = pivoting == Pivoting::partial ? 1000 : 2;
        SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns << ", N = " << size.n
                                        << ", nb = " << size.nb << ", " << pieces << " pieces, " << name_of(pivoting));
        parameters.row_swap.pieces = pieces;
        const auto factors = factorize_and_gather<double>(parameters, grid, "reference", *source);
        if (grid.is_root()) expect_equal(factors, expected);
      }
    }
  }
}

TEST(RowSwapRun, PassesHplsTestWithEveryKind) {
  for (const GridShape shape : grids_with_this_many_ranks()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    if (!grid.active()) continue;
    for (const RowSwapKind kind : all_row_swaps) {
      SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns << ", " << name_of(kind));
      RunParameters parameters;
      parameters.n = 70;
      parameters.nb = 16;
      parameters.row_swap = {kind, 12, 2};
      auto& [timeline, backend] = test::kept_backend<double>("openblas");
      const RunResult result = run(parameters, grid, *backend, timeline, *make_hpl_source(parameters.n));
      EXPECT_TRUE(result.passed) << result.failure;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RowSwaps, testing::ValuesIn(backend_names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace glinpack
