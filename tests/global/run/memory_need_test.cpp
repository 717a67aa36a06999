#include "run/memory_need.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/measuring.hpp"
#include "transport/node_route.hpp"

namespace glinpack {
namespace {

std::int64_t unpadded(Index rows, Index columns, std::int64_t element_bytes) { return rows * columns * element_bytes; }

const ModelledDevice gpu{.has_memory = true, .is_asynchronous = true, .matrix_bytes = unpadded};

// Four processes a node, in row-major order.
RankPlace place_at(GridShape grid, GridPosition at) {
  const auto node_of = [&](int row, int column) { return (row * grid.columns + column) / 4; };
  return {grid, at, first_on_nodes(grid.columns, [&](int column) { return node_of(at.row, column); }),
          first_on_nodes(grid.rows, [&](int row) { return node_of(row, at.column); })};
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// N that fills 80 GB a rank.
TEST(MemoryNeed, IsCountedInMillisecondsForTenThousandRanks) {
  const RunParameters parameters{.n = 8'000'000, .nb = 512, .checkpoint_copy = true};
  const RankPlace place = place_at({100, 100}, {3, 5});
  double shortest = 1;
  MemoryNeed need;
  for (int i = 0; i < 5; ++i) {
    const double begun = steady_seconds();
    need = count_memory(parameters, Precision::double_, place, gpu);
    shortest = std::min(shortest, steady_seconds() - begun);
  }
  EXPECT_LT(shortest, 0.02);
  constexpr std::int64_t matrix = std::int64_t{80'000} * 80'000 * 8;
  EXPECT_GT(need.device, matrix);
  EXPECT_LT(need.device, matrix + matrix / 16);
  EXPECT_GT(need.host, matrix);  // the copy
  EXPECT_LT(need.host, matrix + matrix / 16);
}

// A vector of local rows alone would take 8 GB, a matrix 800 TB.
TEST(MemoryNeed, IsCountedWithoutMemory) {
  for (const GridShape grid : {GridShape{1, 10'000}, GridShape{10'000, 1}}) {
    for (const Pivoting pivoting : all_pivotings) {
      for (const Index nb : {Index{512}, Index{8192}}) {
        const RunParameters parameters{
            .n = 1'000'000'000, .nb = nb, .pivoting = pivoting, .abft = true, .refine = true, .checkpoint_copy = true};
        const std::int64_t before = peak_resident_bytes();
        const double begun = steady_seconds();
        for (const ModelledDevice& device : {gpu, ModelledDevice{.matrix_bytes = unpadded}}) {
          const MemoryNeed need = count_memory(parameters, Precision::mixed, place_at(grid, {0, 0}), device);
          EXPECT_GT(need.host + need.device, 2 * parameters.n * (parameters.n / 10'000) * Index{sizeof(float)});
        }
        EXPECT_LT(steady_seconds() - begun, 1);
        EXPECT_LT(peak_resident_bytes() - before, 64 << 20);
      }
    }
  }
}

}  // namespace
}  // namespace glinpack
