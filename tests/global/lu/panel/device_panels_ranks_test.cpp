// Device panels, and transfers that overlap kernels, on every grid.

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/scatter_matrix.hpp"
#include "run/run.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

// Single precision by one API, double by the other: precisions and APIs have the same steps.
template <class Real>
constexpr const char* backend_of = sizeof(Real) == 4 ? "gl-compute" : "vk-compute";
template <class Real>
constexpr const char* queued_of = sizeof(Real) == 4 ? test::queued_backend : test::queued_vulkan;

template <class Real>
void expect_passing_device_panels(Pivoting pivoting, RowSwapKind kind, const std::vector<Size>& sizes) {
  on_every_grid([&](const ProcessGrid& grid) {
    if (!panels_may_be_on_device(pivoting, grid.shape())) return;
    for (const Size size : sizes) {
      SCOPED_TRACE(testing::Message() << "N = " << size.n << ", nb = " << size.nb);
      const auto source = make_hpl_source(size.n);
      RunParameters parameters = parameters_of(size, pivoting);
      parameters.panel = PanelPlace::device;
      parameters.row_swap.kind = kind;
      parameters.lookahead = 0;
      const auto expected = factorize_and_gather<Real>(parameters, grid, backend_of<Real>, *source);
      parameters.lookahead = 1;
      const auto factors = factorize_and_gather<Real>(parameters, grid, backend_of<Real>, *source);
      auto& [timeline, backend] = test::cached_backend<Real>(backend_of<Real>);
      const RunResult result = run(parameters, grid, *backend, *source);
      EXPECT_TRUE(result.passed) << result.failure;
      if (!grid.is_root()) continue;
      EXPECT_EQ(factors.pivots, expected.pivots);
      EXPECT_EQ(factors.lu, expected.lu);
      const bool on_device = std::any_of(
          result.ranks.front().intervals.begin(), result.ranks.front().intervals.end(),
          [](const Interval& interval) { return interval.lane == Lane::gpu && interval.phase == Phase::panel; });
      EXPECT_TRUE(on_device);
    }
  });
}

TEST(DevicePanels, PassTheHplTestAndAreEqualWithLookAhead) {
  const std::vector<Size> all{{5, 2}, {65, 16}, {130, 40}, {160, 70}};
  const std::vector<Size> few{{5, 2}, {97, 40}};
  expect_passing_device_panels<float>(Pivoting::tournament, RowSwapKind::direct, all);
  expect_passing_device_panels<double>(Pivoting::tournament, RowSwapKind::direct, few);
  // binary exchange places L11 above the panels of the other process rows
  expect_passing_device_panels<float>(Pivoting::tournament, RowSwapKind::binary_exchange, few);
  expect_passing_device_panels<double>(Pivoting::tournament, RowSwapKind::binary_exchange, few);
  expect_passing_device_panels<float>(Pivoting::partial, RowSwapKind::direct, all);
  expect_passing_device_panels<double>(Pivoting::partial, RowSwapKind::direct, few);
}

// They choose the rows that the host chooses: no two candidates of this matrix are nearly equal.
TEST(DevicePanels, ChooseThePivotsOfTheHostWithPartialPivoting) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local}) {
      if (!panels_may_be_on_device(pivoting, grid.shape())) continue;
      const auto source = make_hpl_source(130);
      RunParameters parameters{.n = 130, .nb = 40, .pivoting = pivoting, .panel = PanelPlace::host};
      const auto expected = factorize_and_gather<double>(parameters, grid, "vk-compute", *source);
      parameters.panel = PanelPlace::device;
      const auto factors = factorize_and_gather<double>(parameters, grid, "vk-compute", *source);
      if (!grid.is_root()) continue;
      EXPECT_EQ(factors.pivots, expected.pivots);
    }
  });
}

// A device that has all rows of the panels is the only leaf of the tournament tree.
TEST(DevicePanels, PivotPartiallyInATournamentOfOneProcessRow) {
  on_every_grid([](const ProcessGrid& grid) {
    if (grid.shape().rows > 1) return;
    const auto source = make_hpl_source(130);
    const auto factors_of = [&](Pivoting pivoting) {
      const RunParameters parameters{.n = 130, .nb = 40, .pivoting = pivoting, .panel = PanelPlace::device};
      return factorize_and_gather<float>(parameters, grid, "gl-compute", *source);
    };
    const auto partial = factors_of(Pivoting::partial), tournament = factors_of(Pivoting::tournament);
    EXPECT_EQ(tournament.pivots, partial.pivots);
    EXPECT_EQ(tournament.lu, partial.lu);
  });
}

// Some processes have no pivot for some columns in their rows. The host then chooses their candidate rows.
TEST(DevicePanels, OfSeveralProcessesHandlePermutationsAndSingularMatrices) {
  const Index n = 40;
  on_every_grid([&](const ProcessGrid& grid) {
    if (grid.shape().rows == 1) return;
    const RunParameters parameters{.n = n, .nb = 8, .pivoting = Pivoting::tournament, .panel = PanelPlace::device};
    const Distribution distribution(n, 8, grid.shape());
    for (const bool singular : {false, true}) {
      SCOPED_TRACE(testing::Message() << "singular: " << singular);
      std::vector<double> dense(static_cast<std::size_t>(n * n));
      for (Index i = 0; i < n; ++i) {
        const Index j = (7 * i + 3) % n;
        if (!singular || j != 11) dense[static_cast<std::size_t>(i * n + j)] = static_cast<double>(i + 1);
      }
      const auto source = scatter_matrix(grid, distribution, grid.is_root() ? &dense : nullptr);
      const auto factors = factorize_and_gather<float>(parameters, grid, "gl-compute", *source);
      if (singular) {
        EXPECT_EQ(factors.zero_pivot, 11);
        continue;
      }
      EXPECT_FALSE(factors.zero_pivot);
      if (!grid.is_root()) continue;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < j; ++i) EXPECT_EQ(factors.lu[static_cast<std::size_t>(i * n + j)], 0) << i << ", " << j;
        EXPECT_NE(factors.lu[static_cast<std::size_t>(j * n + j)], 0) << j;
      }
    }
  });
}

// As on a machine where only some ranks have a GPU that can factorise panels.
TEST(DevicePanels, FallBackToTheHostOnAllRanksIfOneRankHasNone) {
  on_every_grid([&](const ProcessGrid& grid) {
    if (grid.shape().rows == 1) return;
    for (const int without : {0, grid.shape().rows - 1}) {
      SCOPED_TRACE(testing::Message() << "without: process row " << without);
      const auto source = make_hpl_source(130);
      RunParameters parameters{.n = 130, .nb = 40, .pivoting = Pivoting::tournament, .panel = PanelPlace::host};
      const auto expected = factorize_and_gather<float>(parameters, grid, "gl-compute", *source);
      if (grid.position().row != without) parameters.panel = PanelPlace::device;
      const auto factors = factorize_and_gather<float>(parameters, grid, "gl-compute", *source);
      if (grid.is_root()) expect_equal(factors, expected);
    }
  });
}

template <class Real>
void expect_same_factors_with_overlapped_transfers(const ProcessGrid& grid, const RunParameters& parameters) {
  const auto source = make_hpl_source(parameters.n);
  const auto expected = factorize_and_gather<Real>(parameters, grid, backend_of<Real>, *source);
  const auto factors = factorize_and_gather<Real>(parameters, grid, queued_of<Real>, *source);
  if (grid.is_root()) expect_equal(factors, expected);
}

// The kernels are the same; only the arrival time of their input differs.
TEST(OverlappedTransfers, DoNotChangeTheFactors) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Size size : {Size{5, 2}, Size{64, 16}, Size{97, 40}}) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
        SCOPED_TRACE(testing::Message() << "N = " << size.n << ", nb = " << size.nb << ", " << name_of(pivoting)
                                        << " pivoting");
        RunParameters parameters = parameters_of(size, pivoting);
        parameters.panel = PanelPlace::host;
        expect_same_factors_with_overlapped_transfers<float>(grid, parameters);
        expect_same_factors_with_overlapped_transfers<double>(grid, parameters);
        if (!panels_may_be_on_device(pivoting, grid.shape())) continue;
        parameters.panel = PanelPlace::device;
        expect_same_factors_with_overlapped_transfers<float>(grid, parameters);
        expect_same_factors_with_overlapped_transfers<double>(grid, parameters);
        if (grid.shape().rows == 1 || size.nb % 4 != 0) continue;
        parameters.row_swap.kind = RowSwapKind::binary_exchange;
        expect_same_factors_with_overlapped_transfers<float>(grid, parameters);
        expect_same_factors_with_overlapped_transfers<double>(grid, parameters);
      }
    }
  });
}

}  // namespace
}  // namespace glinpack
