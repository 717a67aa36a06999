// The memory that the constructors of a run count without arrays is what a run allocates.

#include <string>
#include <vector>

#include "backend/registry.hpp"
#include "mpi/session.hpp"
#include "run/memory_need.hpp"
#include "run/run.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

struct Case {
  const char* name;
  RunParameters parameters;
};

// Every pivoting, with what takes memory of its own.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Pivoting pivoting : all_pivotings) {
    const RunParameters plain = parameters_of({203, 16}, pivoting);
    all.push_back({"plain", plain});
    all.push_back({"plain, without shared memory", plain});
    all.back().parameters.node_memory = false;
    all.push_back({"direct row swap", plain});
    all.back().parameters.row_swap.kind = RowSwapKind::direct;
    all.push_back({"abft", plain});
    all.back().parameters.abft = true;
    all.push_back({"abft and a copy for checkpoints", all.back().parameters});
    all.back().parameters.checkpoint_copy = true;
    all.push_back({"one block", parameters_of({15, 16}, pivoting)});
  }
  return all;
}

ModelledDevice device_named(const std::string& backend) {
  const BackendRecord& record = backend_record(backend.substr(0, backend.find(',')));
  return {.has_memory = record.memory == MemorySpace::device,
          .is_asynchronous = backend != record.name,
          .has_panels = record.panels_on_device,
          .row_by_row = record.row_by_row,
          .matrix_bytes = record.matrix_bytes};
}

template <class Real>
void expect_counted_memory(const std::string& name, Backend<Real>& backend, const ProcessGrid& grid,
                           RunParameters parameters, bool refine) {
  SCOPED_TRACE(name);
  parameters.refine = refine;
  const RunResult result = run(parameters, grid, backend, *make_hpl_source(parameters.n));
  const RankPlace place = {grid.shape(), grid.position(), nodes_of(grid.row()), nodes_of(grid.column())};
  const MemoryNeed need = count_memory(parameters, precision_of<Real>, place, device_named(name));
  EXPECT_GT(result.memory.device, grid.shape().size() > 4 ? 0 : parameters.n);
  EXPECT_EQ(need.device, result.memory.device);
  EXPECT_EQ(need.host, result.memory.host);
}

TEST(MemoryNeed, IsWhatARunAllocatesOnTheProcessor) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const auto& [name, parameters] : cases()) {
      SCOPED_TRACE(std::string(name) + ", " + std::string(name_of(parameters.pivoting)));
      auto& in_double = cached_backend<double>("openblas");
      expect_counted_memory<double>("openblas", *in_double.backend, grid, parameters, false);
      auto& in_single = cached_backend<float>("openblas");
      const bool refine = !parameters.abft;
      expect_counted_memory<float>("openblas", *in_single.backend, grid, parameters, refine);
    }
  });
}

// A backend keeps memory for the next run: each run has its own.
class MemoryNeedOnADevice : public testing::TestWithParam<std::string> {};

TEST_P(MemoryNeedOnADevice, IsWhatARunAllocates) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const Pivoting pivoting : all_pivotings) {
      SCOPED_TRACE(name_of(pivoting));
      Timeline timeline;
      const auto backend = make_test_backend<double>(GetParam(), timeline);
      expect_counted_memory<double>(GetParam(), *backend, grid, parameters_of({203, 16}, pivoting), false);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, MemoryNeedOnADevice, testing::Values("gl-compute", "vk-compute"),
                         [](const auto& info) { return info.param.substr(0, 2) + "_compute"; });

// The process row of a whole panel, or the process column of a gathered one.
TEST(MemoryNeed, IsWhatARunAllocatesForPanelsOfADevice) {
  on_every_grid([](const ProcessGrid& grid) {
    Timeline timeline;
    const auto backend = make_test_backend<float>(queued_vulkan, timeline);
    const RunParameters parameters = parameters_of({203, 16}, Pivoting::tournament);
    expect_counted_memory<float>(queued_vulkan, *backend, grid, parameters, false);
  });
}

}  // namespace
}  // namespace glinpack
