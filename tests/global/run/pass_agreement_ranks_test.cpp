// A signal stops a run on all ranks before the same pass and does not affect later runs.
#include <signal.h>

#include <chrono>
#include <set>
#include <thread>

#include "mpi/communication.hpp"
#include "run/run.hpp"
#include "run/run_observer.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/world.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {
namespace {

constexpr Index passes = 12;

RunParameters parameters_of(Pivoting pivoting, int lookahead) {
  return {.n = 4 * passes, .nb = 4, .pivoting = pivoting, .row_swap = {.pieces = 4}, .lookahead = lookahead};
}

void expect_agreement(const RunResult& result, const ProcessGrid& grid) {
  ASSERT_TRUE(result.passes_done);
  std::int64_t min = *result.passes_done;
  std::int64_t max = min;
  all_reduce(grid.all(), &min, 1, MPI_INT64_T, MPI_MIN);
  all_reduce(grid.all(), &max, 1, MPI_INT64_T, MPI_MAX);
  EXPECT_EQ(min, max);
  EXPECT_GT(max, 0);
  EXPECT_LT(max, passes);
}

// A stop request stays pending until the next StopSignals; it must not stop later tests.
void clear_stop_requests() { const StopSignals none(false); }

class StopRequests : public ::testing::TestWithParam<std::tuple<const char*, Pivoting, int>> {};

TEST_P(StopRequests, OfOneRankStopAllRanksBeforeTheSamePass) {
  test::on_every_grid([&](const ProcessGrid& grid) {
    const auto& [backend_name, pivoting, lookahead] = GetParam();
    auto& [timeline, backend] = test::cached_backend<float>(backend_name);
    const RunParameters parameters = parameters_of(pivoting, lookahead);
    const auto source = make_hpl_source(parameters.n);
    for (const int signalled : std::set{0, grid.shape().size() - 1}) {
      const StopSignals signals(false);
      if (test::world_rank() == signalled) raise(SIGUSR1);
      const RunResult result = run(parameters, grid, *backend, *source);
      expect_agreement(result, grid);
      EXPECT_FALSE(result.checked);
    }
    const StopSignals signals(false);
    const RunResult whole = run(parameters, grid, *backend, *source);
    EXPECT_FALSE(whole.passes_done);
    EXPECT_TRUE(whole.passed) << whole.failure;
  });
}

INSTANTIATE_TEST_SUITE_P(Steps, StopRequests,
                         ::testing::Values(std::tuple("openblas", Pivoting::partial, 1),
                                           std::tuple("openblas", Pivoting::local, 0),
                                           std::tuple("openblas", Pivoting::tournament, 1),
                                           std::tuple(test::queued_backend, Pivoting::partial, 1),
                                           std::tuple(test::queued_vulkan, Pivoting::tournament, 1),
                                           std::tuple("gl-raster", Pivoting::local, 0)));

TEST(SharedStopSignal, IsThatOfAnyRank) {
  const StopSignals signals(false);
  EXPECT_EQ(share_stop_signal(MPI_COMM_WORLD), 0);
  if (test::world_rank() == test::world_size() - 1) raise(SIGINT);
  EXPECT_EQ(share_stop_signal(MPI_COMM_WORLD), SIGINT);
  EXPECT_EQ(stop_signal(), SIGINT);
  if (test::world_size() == 2 && test::world_rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    raise(SIGINT);  // the first one of this rank: it continues
  }
  const StopSignals none(false);  // must not stop later tests
}

TEST(StopQuestions, AreAskedTwiceASecondIfPassesAreShorter) {
  EXPECT_EQ(passes_between_questions(0, 500), 1000);
  EXPECT_EQ(passes_between_questions(1e-9, 501), 1000);
  EXPECT_EQ(passes_between_questions(0.01, 25), 50);
  EXPECT_EQ(passes_between_questions(0.3, 1), 1);
  EXPECT_EQ(passes_between_questions(0.6, 100), 0);
  EXPECT_EQ(passes_between_questions(1e9, 1), 0);
}

TEST(StopQuestions, AreAskedAgainSoonAfterFewPassesWhichMayHaveBeenShort) {
  EXPECT_EQ(passes_between_questions(1e-9, 1), 2);
  EXPECT_EQ(passes_between_questions(1e-9, 3), 6);
  EXPECT_EQ(passes_between_questions(0.1, 1), 2);
}

TEST(PassAgreement, AsksAgainThoughTheFirstPassesWereShort) {
  constexpr Index end = 1000, signalled = 10, max = 2 * signalled + 5;
  PassAgreement agreement(MPI_COMM_WORLD, 0, end, true);
  Index pass = 0;
  for (bool ends = false; !ends && pass < max; ++pass) {
    const bool mine = pass >= signalled && test::world_rank() == test::world_size() - 1;
    ends = agreement.before(pass, {.end = mine}).value_or(PassRequests{}).end;
  }
  EXPECT_LT(pass, max);
  agreement.finish();
}

TEST(StopRequestsOfMessages, StopAllRanksBeforeTheSamePass) {
  test::on_every_grid([&](const ProcessGrid& grid) {
    const StopSignals signals(false);
    if (grid.is_root()) raise(SIGTERM);
    expect_agreement(run_messages(parameters_of(Pivoting::partial, 1), grid, Precision::single), grid);
  });
  clear_stop_requests();
}

TEST(StopRequestsWithoutMessages, StopEveryRankThatHasOneAndAllKnow) {
  RunParameters parameters = parameters_of(Pivoting::partial, 1);
  parameters.parts = RunParts::compute;
  test::on_every_grid([&](const ProcessGrid& grid) {
    auto& [timeline, backend] = test::cached_backend<float>("openblas");
    const StopSignals signals(false);
    if (grid.is_root()) raise(SIGUSR1);
    const RunResult result = run(parameters, grid, *backend, *make_hpl_source(parameters.n));
    EXPECT_EQ(result.passes_done, std::optional<Index>(0));
    EXPECT_EQ(result.gflops, 0);
  });
  clear_stop_requests();
}

}  // namespace
}  // namespace glinpack
