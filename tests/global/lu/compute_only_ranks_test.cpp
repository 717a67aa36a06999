// The placeholder values that replace messages in compute-only runs.

#include <cmath>

#include "tests/global/factors.hpp"

namespace glinpack {
namespace {

// This rank's part of the matrix after a factorisation.
template <class Real>
std::vector<Real> factorized_part(const std::string& backend_name, const RunParameters& parameters,
                                  const ProcessGrid& grid) {
  auto& [timeline, backend] = test::cached_backend<Real>(backend_name);
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const auto source = make_hpl_source(parameters.n);
  const auto a = test::on_device(*backend, test::local_part<Real>(*source, distribution, grid.position()));
  EXPECT_FALSE(test::factorize(parameters, distribution, grid, *backend, timeline, *a).zero_pivot);
  return test::from_device(*backend, *a).elements;
}

// Denormals are slow; infinities and NaN may be. Either would make the measured times meaningless.
TEST(Placeholders, KeepAllValuesAsLargeAsInAFactorisation) {
  const int size = test::world_size();
  for (int grid_rows = 1; grid_rows <= size; ++grid_rows) {
    if (size % grid_rows != 0) continue;
    const ProcessGrid grid(MPI_COMM_WORLD, {grid_rows, size / grid_rows}, RankOrder::row_major);
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {6, 4}, {100, 1}, {333, 16}, {600, 8}, {500, 100}}) {
      for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial}) {
        const RunParameters parameters{.n = n, .nb = nb, .pivoting = pivoting, .parts = RunParts::compute};
        const auto a = factorized_part<float>("openblas", parameters, grid);
        float largest = 0;
        for (const float value : a) {
          ASSERT_TRUE(value == 0 || std::isnormal(value)) << value;
          largest = std::max(largest, std::fabs(value));
        }
        // growth n^(2/3) as with partial pivoting, times n for the placeholders of other ranks' pivots
        EXPECT_LT(largest, 10 * std::pow(static_cast<float>(n), 5.0F / 3.0F))
            << "N = " << n << ", nb = " << nb << ", " << grid_rows << " process rows, " << name_of(pivoting);
      }
    }
  }
}

// Also row by row, in which a role does more work per step.
TEST(Placeholders, KeepTheValuesOfTheRasterBackendNormal) {
  const int size = test::world_size();
  for (const GridShape shape : {squarest_grid(size), GridShape{size, 1}}) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    const RunParameters parameters{.n = 90, .nb = 16, .pivoting = Pivoting::local, .parts = RunParts::compute};
    const auto a = factorized_part<float>("gl-raster", parameters, grid);
    for (const float value : a) ASSERT_TRUE(value == 0 || std::isnormal(value)) << value;
  }
}

TEST(Placeholders, AreNotUsedOnASingleRank) {
  const ProcessGrid alone(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
  if (!alone.active()) return;
  for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial}) {
    RunParameters parameters{.n = 100, .nb = 16, .pivoting = pivoting};
    const auto whole = factorized_part<double>("openblas", parameters, alone);
    parameters.parts = RunParts::compute;
    EXPECT_EQ(factorized_part<double>("openblas", parameters, alone), whole);
  }
}

}  // namespace
}  // namespace glinpack
