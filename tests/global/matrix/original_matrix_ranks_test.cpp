// [A | b], regenerated after the factorisation on the host and on the device.

#include <cmath>

#include "matrix/matrix_source.hpp"
#include "matrix/original_matrix.hpp"
#include "run/run.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using test::cached_backend;
using test::on_every_grid;

void expect_near(const std::vector<double>& values, const std::vector<double>& expected, double allowed) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], allowed) << i;
}

class OriginalMatrixOf : public testing::TestWithParam<const char*> {};

TEST_P(OriginalMatrixOf, IsEqualOnDeviceAndHost) {
  on_every_grid([](const ProcessGrid& grid) {
    const GridPosition at = grid.position();
    auto& [timeline, backend] = cached_backend<float>(GetParam());
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {7, 16}, {35, 4}, {97, 40}, {300, 16}}) {
      for (const auto& [kind, precision] : {std::pair{MatrixKind::hpl, Precision::single},
                                            {MatrixKind::hpl, Precision::double_},
                                            {MatrixKind::mxp, Precision::double_}}) {
        SCOPED_TRACE(testing::Message() << "N = " << n << ", nb = " << nb << ", " << name_of(precision));
        const Distribution distribution(n, nb, grid.shape());
        const auto source = make_source(kind, n, 7);
        const auto host = original_matrix_on_host({distribution, at, *source, precision}, 2, timeline);
        const auto device =
            original_matrix_on_device<float>({distribution, at, *source, precision}, *backend, DeviceUse::always);
        ASSERT_TRUE(device);
        const Index columns = distribution.local_columns_of_a(at);
        std::vector<double> x;
        for (Index j = 0; j < columns; ++j) x.push_back(std::sin(static_cast<double>(j) + 1));
        // |a_ij| <= 2, |x_j| <= 1
        const double allowed = tolerance<double>(n) * static_cast<double>(n);
        for (const double beta : {0.0, 1.0, -2.5}) {
          expect_near(device->residual(x, beta), host->residual(x, beta), allowed);
        }
        const LocalSums sums = device->sums(x);
        const LocalSums expected = host->sums(x);
        expect_near(sums.residual, expected.residual, allowed);
        expect_near(sums.row_sums, expected.row_sums, allowed);
        expect_near(sums.column_sums, expected.column_sums, allowed);
        EXPECT_EQ(sums.largest_a, expected.largest_a);
        EXPECT_EQ(sums.largest_b, expected.largest_b);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(OriginalMatrix, OriginalMatrixOf, testing::Values("gl-compute", "vk-compute"),
                         [](const auto& info) { return std::string(info.param, 2); });

TEST(OriginalMatrix, IsOnTheDeviceOnlyForMatricesOfHplAndMxpAndGpuBackends) {
  on_every_grid([](const ProcessGrid& grid) {
    const Distribution distribution(20, 4, grid.shape());
    const auto made = [&](const char* backend, const MatrixSource& source) {
      return original_matrix_on_device<float>({distribution, grid.position(), source, Precision::double_},
                                              *cached_backend<float>(backend).backend, DeviceUse::always) != nullptr;
    };
    for (const char* backend : {"gl-compute", "vk-compute", "gl-raster"})
      EXPECT_TRUE(made(backend, *make_hpl_source(20))) << backend;
    for (const char* backend : {"reference", "openblas"}) EXPECT_FALSE(made(backend, *make_hpl_source(20))) << backend;
    for (const MatrixKind kind : matrix_formulas) {
      EXPECT_EQ(made("gl-compute", *make_source(kind, 20, 1)), kind == MatrixKind::hpl || kind == MatrixKind::mxp)
          << name_of(kind);
    }
  });
}

template <class Real>
RunResult run_with(const std::string& backend_name, const ProcessGrid& grid, bool refine, bool software_as_gpu) {
  auto& [timeline, backend] = cached_backend<Real>(backend_name);
  const RunParameters parameters{.n = 150, .nb = 16, .refine = refine, .software_as_gpu = software_as_gpu};
  return run(parameters, grid, *backend, *make_hpl_source(parameters.n));
}

/// A run with residuals from the device equals one with residuals from the host, to within roundoff.
template <class Real>
void expect_same_run(const std::string& backend_name, const ProcessGrid& grid, bool refine) {
  SCOPED_TRACE(testing::Message() << backend_name << ", " << sizeof(Real) * 8 << " bits"
                                  << (refine ? ", refined" : ""));
  const RunResult host = run_with<Real>(backend_name, grid, refine, false);
  const RunResult device = run_with<Real>(backend_name, grid, refine, true);
  EXPECT_TRUE(device.passed) << device.failure;
  const double relative = tolerance<double>(150);
  EXPECT_NEAR(device.residual.norm_a_inf, host.residual.norm_a_inf, relative * host.residual.norm_a_inf);
  EXPECT_NEAR(device.residual.norm_a_one, host.residual.norm_a_one, relative * host.residual.norm_a_one);
  EXPECT_EQ(device.residual.norm_b_inf, host.residual.norm_b_inf);
  EXPECT_EQ(device.residual.largest_a, host.residual.largest_a);
  EXPECT_EQ(device.residual.epsilon, host.residual.epsilon);
  const double scale = host.residual.norm_a_inf * host.residual.norm_x_inf + host.residual.norm_b_inf;
  EXPECT_NEAR(device.residual.norm_residual_inf, host.residual.norm_residual_inf, relative * scale);
  if (!refine) return;
  EXPECT_TRUE(device.refinement->converged) << device.refinement->stopped;
  EXPECT_EQ(device.refinement->iterations(), host.refinement->iterations());
  for (const RankRecord& rank : device.ranks) {
    double seconds = 0;
    for (const Interval& interval : rank.intervals) {
      if (interval.phase != Phase::refinement) continue;
      EXPECT_NE(interval.lane, Lane::cpu);
      if (interval.lane == Lane::gpu) seconds += interval.seconds();
    }
    EXPECT_GT(seconds, 0) << rank.row << "," << rank.column;
  }
}

TEST(OriginalMatrix, GivesTheSameCheckAndRefinementOnDeviceAndHost) {
  on_every_grid([](const ProcessGrid& grid) {
    expect_same_run<float>("gl-compute", grid, true);
    expect_same_run<float>("vk-compute", grid, true);
    expect_same_run<double>("vk-compute", grid, false);
    expect_same_run<float>("gl-raster", grid, true);
  });
}

}  // namespace
}  // namespace glinpack
