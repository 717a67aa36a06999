// The placeholder values that replace messages in compute-only runs.
#include <gtest/gtest.h>

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
  const Index rows = distribution.local_rows(grid.position());
  const Index columns = distribution.local_columns(grid.position());
  const auto a = backend->allocate(rows, columns);
  const auto buffer = backend->allocate_host(rows * columns);
  const HostBlock<Real> host{buffer.get(), 0, rows, columns, columns};
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  make_hpl_source(parameters.n)
      ->fill(distribution, grid.position(), LocalIndex(0), {values.data(), rows, columns, columns});
  std::transform(values.begin(), values.end(), buffer->data(), [](double v) { return static_cast<Real>(v); });
  backend->wait(backend->upload(host, whole(*a)));
  EXPECT_FALSE(test::factorize(parameters, distribution, grid, *backend, timeline, *a).zero_pivot);
  backend->wait(backend->download(whole(*a), host));
  return {buffer->data(), buffer->data() + rows * columns};
}

RunParameters parameters_of(Index n, Index nb, Pivoting pivoting, RunParts parts) {
  RunParameters parameters = test::parameters_of({n, nb}, pivoting);
  parameters.parts = parts;
  return parameters;
}

// Denormals are slow; infinities and NaN may be. Either would make the measured times meaningless.
TEST(Placeholders, KeepAllValuesAsLargeAsInAFactorisation) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int grid_rows = 1; grid_rows <= size; ++grid_rows) {
    if (size % grid_rows != 0) continue;
    const ProcessGrid grid(MPI_COMM_WORLD, {grid_rows, size / grid_rows}, RankOrder::row_major);
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {6, 4}, {100, 1}, {333, 16}, {600, 8}, {500, 100}}) {
      for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial}) {
        const RunParameters parameters = parameters_of(n, nb, pivoting, RunParts::compute);
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
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const GridShape shape : {squarest_grid(size), GridShape{size, 1}}) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    const auto a = factorized_part<float>("gl-raster", parameters_of(90, 16, Pivoting::local, RunParts::compute), grid);
    for (const float value : a) ASSERT_TRUE(value == 0 || std::isnormal(value)) << value;
  }
}

TEST(Placeholders, AreNotUsedOnASingleRank) {
  const ProcessGrid alone(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
  if (!alone.active()) return;
  for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial}) {
    EXPECT_EQ(factorized_part<double>("openblas", parameters_of(100, 16, pivoting, RunParts::compute), alone),
              factorized_part<double>("openblas", parameters_of(100, 16, pivoting, RunParts::all), alone));
  }
}

}  // namespace
}  // namespace glinpack
