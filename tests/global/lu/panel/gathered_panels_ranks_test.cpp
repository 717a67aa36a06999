// Panels that the pivot's device factorises with the rows of its process column.

#include "mpi/communication.hpp"
#include "mpi/scatter_matrix.hpp"
#include "run/workspace.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

RunParameters gathered(Size size, Pivoting pivoting, Index pieces) {
  RunParameters parameters = parameters_of(size, pivoting);
  parameters.panel = PanelPlace::device;
  parameters.row_swap = {RowSwapKind::binary_exchange, 64, pieces};
  return parameters;
}

// Calls body(grid) for every grid with several process rows.
template <class Body>
void on_every_tall_grid(Body body) {
  test::on_every_grid([&](const ProcessGrid& grid) {
    if (grid.shape().rows > 1) body(grid);
  });
}

std::unique_ptr<NodeWindows> shared_memory(const RunParameters& parameters, const ProcessGrid& grid) {
  return node_windows_of<float>(parameters, grid, 2, true);
}

class GatheredPanels : public testing::TestWithParam<Pivoting> {};

// The backends execute the steps of the driver as on a software device and as on a GPU.
TEST_P(GatheredPanels, HaveTheSameFactorsThroughSharedMemoryAsByMessages) {
  struct Case {
    Size size;
    Index pieces;
    int lookahead;
  };
  on_every_tall_grid([](const ProcessGrid& grid) {
    for (const Case& run : {Case{{5, 2}, 4, 1},
                            {{40, 8}, 1, 1},
                            {{97, 16}, 4, 1},
                            {{97, 16}, 4, 0},
                            {{130, 24}, 3, 1},
                            {{130, 8}, 6, 1}}) {
      // four ranks test all
      if (test::world_size() > 4 && run.pieces != 4) continue;
      SCOPED_TRACE(testing::Message() << "N = " << run.size.n << ", nb = " << run.size.nb << ", " << run.pieces
                                      << " pieces, look-ahead " << run.lookahead);
      const auto source = make_hpl_source(run.size.n);
      RunParameters parameters = gathered(run.size, GetParam(), run.pieces);
      parameters.lookahead = run.lookahead;
      const auto windows = shared_memory(parameters, grid);
      ASSERT_NE(windows, nullptr);
      ASSERT_NE(windows->panel_rings(), nullptr);
      const auto by_messages = [&](const std::string& backend) {
        return factorize_and_gather<float, test::AsInOneNode<float>>(parameters, grid, backend, *source);
      };
      const auto expected = by_messages("gl-compute");
      const auto queued = by_messages(test::queued_backend);
      if (grid.is_root()) expect_equal(queued, expected);
      for (const char* const backend : {"gl-compute", test::queued_backend}) {
        SCOPED_TRACE(backend);
        const auto factors = factorize_and_gather<float>(parameters, grid, backend, *source, windows.get());
        if (grid.is_root()) expect_equal(factors, expected);
      }
    }
  });
}

// Later runs use the same shared memory.
TEST_P(GatheredPanels, OfASingularMatrixEndTheRunWithNothingPending) {
  on_every_tall_grid([](const ProcessGrid& grid) {
    const RunParameters parameters = gathered({48, 4}, GetParam(), 4);
    const auto windows = shared_memory(parameters, grid);
    const auto regular = make_hpl_source(48);
    std::vector<double> dense(48 * 48);
    for (std::size_t i = 0; i < 48; ++i) dense[i * 48 + (7 * i + 3) % 48] = i == 5 ? 0 : 4;  // column 38 is zero
    const auto singular =
        scatter_matrix(grid, distribution_of(parameters, grid.shape()), grid.is_root() ? &dense : nullptr);
    for (const char* const backend : {test::queued_backend, test::queued_vulkan}) {
      SCOPED_TRACE(backend);
      const auto expected = factorize_and_gather<float>(parameters, grid, backend, *regular, windows.get());
      EXPECT_EQ(factorize_and_gather<float>(parameters, grid, backend, *singular, windows.get()).zero_pivot, 38);
      const auto factors = factorize_and_gather<float>(parameters, grid, backend, *regular, windows.get());
      if (grid.is_root()) expect_equal(factors, expected);
    }
  });
}

TEST(GatheredPanelsOfPartialPivoting, HaveTheFactorsOfOneProcess) {
  for (const Size size : {Size{64, 16}, {97, 40}}) {
    const auto source = make_hpl_source(size.n);
    const ProcessGrid alone(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
    RunParameters parameters = gathered(size, Pivoting::partial, 4);
    test::GatheredFactors<float> expected;
    if (alone.active()) expected = factorize_and_gather<float>(parameters, alone, "vk-compute", *source);
    on_every_tall_grid([&](const ProcessGrid& grid) {
      const auto windows = shared_memory(parameters, grid);
      const auto factors = factorize_and_gather<float>(parameters, grid, test::queued_vulkan, *source, windows.get());
      if (!grid.is_root()) return;
      EXPECT_EQ(factors.pivots, expected.pivots);
      EXPECT_EQ(factors.lu, expected.lu);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Pivotings, GatheredPanels, testing::Values(Pivoting::partial, Pivoting::tournament),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace glinpack
