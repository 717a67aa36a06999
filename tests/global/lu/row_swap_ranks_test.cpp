// Every row swap algorithm gives the same factors.

#include <span>

#include "backend/registry.hpp"
#include "run/run.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

// the last swap_sizes: ranks without rows, and blocks larger than the local matrix
constexpr Size swap_sizes[] = {{30, 3}, {45, 8}, {64, 16}, {1, 1}, {5, 8}, {50, 33}};
// gl-compute sums in another order if rows of L are unaligned, as they may be below the L11 of another rank
constexpr Size sizes_on_device[] = {{50, 36}, {40, 8}};

struct SwapCase {
  Index pieces;
  int lookahead;
  Pivoting pivoting;
};
constexpr SwapCase swap_cases[] = {{3, 1, Pivoting::partial}, {1, 0, Pivoting::partial}, {2, 1, Pivoting::tournament}};

std::vector<GridShape> grids_of_world_size() {
  std::vector<GridShape> grids;
  const int size = test::world_size();
  for (const GridShape grid : {GridShape{1, 1}, {2, 1}, {4, 1}, {2, 2}, {1, 4}, {5, 1}, {6, 1}, {3, 2}, {2, 3}}) {
    if (grid.size() == size || (size == 6 && grid.size() == 5)) grids.push_back(grid);
  }
  return grids;
}

template <class Real>
void expect_same_factors_by_all_kinds(const std::string& backend, const ProcessGrid& grid, RunParameters parameters) {
  const auto source = make_hpl_source(parameters.n);
  const auto expected = factorize_and_gather<Real>(parameters, grid, backend, *source);
  for (const RowSwapKind kind : {RowSwapKind::binary_exchange, RowSwapKind::spread_roll, RowSwapKind::mix}) {
    parameters.row_swap.kind = kind;
    parameters.row_swap.threshold = 11;  // reached in some passes only
    SCOPED_TRACE(name_of(kind));
    const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source);
    if (grid.is_root()) expect_equal(factors, expected);
  }
}

class RowSwaps : public testing::TestWithParam<std::string> {
 protected:
  bool on_device() const { return computes_on_device(GetParam()); }
};

TEST_P(RowSwaps, AreBitwiseEqualToTheDirectExchange) {
  for (const GridShape shape : grids_of_world_size()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    if (!grid.active()) continue;
    const auto of_backend = on_device() ? std::span<const Size>(sizes_on_device) : std::span<const Size>(swap_sizes);
    for (std::size_t i = 0; i < of_backend.size(); ++i) {
      const Size size = of_backend[i];
      const SwapCase& swap_case = swap_cases[i % std::size(swap_cases)];
      const RunParameters parameters{.n = size.n,
                                     .nb = size.nb,
                                     .pivoting = swap_case.pivoting,
                                     .row_swap = {.pieces = swap_case.pieces},
                                     .lookahead = swap_case.lookahead};
      SCOPED_TRACE(testing::Message() << shape.rows << "x" << shape.columns << ", N = " << size.n
                                      << ", nb = " << size.nb << ", " << swap_case.pieces << " pieces, look-ahead "
                                      << swap_case.lookahead << ", " << name_of(swap_case.pivoting));
      if (on_device()) {
        expect_same_factors_by_all_kinds<float>(GetParam(), grid, parameters);
      } else {
        expect_same_factors_by_all_kinds<double>(GetParam(), grid, parameters);
      }
    }
  }
}

// The reference backend sums in the same order for any size of a piece.
TEST(RowSwapPieces, GiveBitwiseEqualFactorsWithEveryPivoting) {
  for (const GridShape shape : grids_of_world_size()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::column_major);
    if (!grid.active()) continue;
    for (const Size size : {Size{5, 8}, Size{30, 3}, Size{50, 33}}) {
      for (const Pivoting pivoting : all_pivotings) {
        const auto source = make_hpl_source(size.n);
        RunParameters parameters{.n = size.n, .nb = size.nb, .pivoting = pivoting};
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

INSTANTIATE_TEST_SUITE_P(Backends, RowSwaps, testing::ValuesIn(backend_names()), test::backend_identifier);

}  // namespace
}  // namespace glinpack
