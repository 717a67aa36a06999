#include "global/run_messages.hpp"

#include <exception>

#include "global/communication.hpp"
#include "global/message_steps.hpp"
#include "global/node_windows.hpp"
#include "global/records.hpp"

namespace glinpack {

namespace {

template <class Real>
RunResult run_messages_in(const RunParameters& parameters, const ProcessGrid& grid, int threads,
                          const ProgressObserver& progress) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  Timeline timeline;
  const auto windows = make_node_windows<Real>(parameters, distribution, grid, threads);
  const auto steps = made_by_all(grid.all(), [&] {
    return std::make_unique<MessageSteps<Real>>(parameters, distribution, grid, timeline, windows.get());
  });
  RunResult result;
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  const WatchedSection watched;
  timeline.tell(own_progress());
  try {
    barrier(grid.all());
    result.start_time = seconds_since_1970();
    timeline.restart();
    const ProgressObserver observer = grid.is_root() ? progress : ProgressObserver{};
    if (observer) observer(0);
    result.passes_done = factorize(parameters, distribution, grid, timeline, *steps, observer).ended_before;
    result.factor_seconds = timeline.now();
    all_reduce(grid.all(), &result.factor_seconds, 1, MPI_DOUBLE, MPI_MAX);
    result.seconds = result.factor_seconds;
    result.end_time = seconds_since_1970();
    result.ranks = gather_rank_records(grid, {}, timeline.intervals());
  } catch (const std::exception& error) {
    abort_run(timeline, error);
  }
  return result;
}

}  // namespace

RunResult run_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision, int threads,
                       const ProgressObserver& progress) {
  return precision == Precision::single ? run_messages_in<float>(parameters, grid, threads, progress)
                                        : run_messages_in<double>(parameters, grid, threads, progress);
}

}  // namespace glinpack
