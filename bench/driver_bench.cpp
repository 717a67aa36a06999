// What the driver costs a rank without arithmetic: memory and time of communicators, shared memory, buffers, schedule
// and timeline, with a local matrix of one size on all grids.
//   mpirun -np 64 driver_bench --grid 8x8            all ranks, with their messages
//   driver_bench --grid 8x8,100x100,40x250           four ranks of each grid, without messages
// Lines are the largest values over the ranks. Times of passes are the processor's: ranks may share cores.
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"
#include "mpi/mpi_transport.hpp"
#include "mpi/session.hpp"
#include "none/none_backend.hpp"
#include "run/workspace.hpp"

namespace {

using namespace glinpack;

struct Settings {
  std::vector<std::string> grids;
  Index local_n = 1024;
  Index nb = 64;
  std::string pivoting = "partial";
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Memory of this process, shared memory included, free parts of the heap left out.
double bytes_in_use() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) - static_cast<double>(mallinfo2().fordblks);
}

enum Figure {
  communicator_seconds,
  communicator_bytes,
  window_seconds,
  window_bytes,
  buffer_bytes,
  pass_seconds,
  pivot_bytes,
  timeline_bytes,
  run_seconds,
  figures
};
using Cost = std::array<double, figures>;

RunParameters parameters_for(const Settings& settings, GridShape grid) {
  RunParameters parameters;
  parameters.n = static_cast<Index>(std::lround(static_cast<double>(settings.local_n) * std::sqrt(grid.size())));
  parameters.nb = settings.nb;
  parameters.parts = RunParts::messages;  // no checks of zero pivots, no solution
  parameters.panel = PanelPlace::host;
  parameters.lookahead = 0;
  parameters.row_swap.pieces = 1;
  const auto named = std::ranges::find(all_pivotings, settings.pivoting, [](Pivoting p) { return name_of(p); });
  parameters.pivoting = *named;
  return parameters;
}

/// Buffers, schedule and timeline of a rank that sends nothing.
void measure_passes(const RunParameters& parameters, GridShape grid, GridPosition at, Cost& cost) {
  const Distribution distribution = distribution_of(parameters, grid);
  Timeline timeline;
  const auto backend = make_none_backend<double>(timeline, HostPages::lazy);
  const auto a = backend->allocate(distribution.local_rows(at), distribution.local_columns(at));
  NoTransport<double> transport(distribution, at, parameters.pivoting, 0);
  AllPasses observer(timeline);
  const double before = bytes_in_use();
  const LoneGrid lone(grid, at);
  const auto lu = make_lu<double>({parameters, distribution, lone, *backend, transport}, *a);
  cost[buffer_bytes] = bytes_in_use() - before;
  const double begun = processor_seconds();
  const Factorization factorization = lu->run(observer);
  const auto passes = static_cast<double>(distribution.passes());
  cost[pass_seconds] = (processor_seconds() - begun) / passes;
  cost[pivot_bytes] = static_cast<double>(factorization.interchanges.pivots.size() * sizeof(GlobalIndex));
  cost[timeline_bytes] = static_cast<double>(timeline.intervals().size() * sizeof(Interval)) / passes;
}

/// Communicators, windows, and a whole run with messages. Collective.
void measure_with_messages(const RunParameters& parameters, GridShape shape, Cost& cost) {
  double bytes = bytes_in_use(), begun = MPI_Wtime();
  const auto lap = [&](Figure seconds_figure, Figure bytes_figure) {
    cost[seconds_figure] = MPI_Wtime() - begun;
    cost[bytes_figure] = bytes_in_use() - bytes;
    MPI_Barrier(MPI_COMM_WORLD);
    bytes = bytes_in_use();
    begun = MPI_Wtime();
  };
  const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
  lap(communicator_seconds, communicator_bytes);
  const auto windows = node_windows_of<double>(parameters, grid, 1);
  lap(window_seconds, window_bytes);
  const Distribution distribution = distribution_of(parameters, shape);
  Timeline timeline;
  const auto backend = make_none_backend<double>(timeline, HostPages::touched);
  const auto a =
      backend->allocate(distribution.local_rows(grid.position()), distribution.local_columns(grid.position()));
  MpiTransport<double> transport(grid, parameters.broadcast, timeline, {windows.get()}, Completion::in_turn);
  AllPasses observer(timeline);
  const auto lu = make_lu<double>({parameters, distribution, grid, *backend, transport}, *a);
  MPI_Barrier(MPI_COMM_WORLD);
  const double run_begun = MPI_Wtime();
  lu->run(observer);
  MPI_Barrier(MPI_COMM_WORLD);
  cost[run_seconds] = MPI_Wtime() - run_begun;
  cost[timeline_bytes] =
      static_cast<double>(timeline.intervals().size() * sizeof(Interval)) / static_cast<double>(distribution.passes());
}

void print(const std::string& grid, const RunParameters& parameters, const Cost& cost, bool with_messages) {
  std::printf("%-8s %9lld ", grid.c_str(), static_cast<long long>(parameters.n));
  if (with_messages) {
    std::printf("%10.1f %9.0f %10.1f %9.0f ", 1e3 * cost[communicator_seconds], cost[communicator_bytes] / 1024,
                1e3 * cost[window_seconds], cost[window_bytes] / 1024);
  }
  std::printf("%9.0f %9.1f %9.0f %9.0f", cost[buffer_bytes] / 1024, 1e6 * cost[pass_seconds], cost[pivot_bytes] / 1024,
              cost[timeline_bytes]);
  std::printf(with_messages ? " %9.2f\n" : "\n", cost[run_seconds]);
  std::fflush(stdout);
}

void measure(const Settings& settings, const MpiSession& session) {
  const bool with_messages = session.size() > 1;
  if (session.rank() == 0) {
    std::printf("%-8s %9s ", "grid", "N");
    if (with_messages) std::printf("%10s %9s %10s %9s ", "comms, ms", "KiB", "shared, ms", "KiB");
    std::printf("%9s %9s %9s %9s%s\n", "buf., KiB", "us/pass", "piv., KiB", "B/pass",
                with_messages ? "    run, s" : "");
  }
  for (const std::string& name : settings.grids) {
    GridShape grid;
    if (std::sscanf(name.c_str(), "%dx%d", &grid.rows, &grid.columns) != 2 || grid.rows < 1 || grid.columns < 1) {
      throw std::invalid_argument("--grid: '" + name + "' is not a grid PxQ such as 8x8");
    }
    const RunParameters parameters = parameters_for(settings, grid);
    Cost cost{};
    if (with_messages) {
      const GridPosition at{session.rank() / grid.columns, session.rank() % grid.columns};
      if (grid.size() != session.size()) throw std::invalid_argument("--grid: " + name + " is not all processes");
      measure_passes(parameters, grid, at, cost);
      measure_with_messages(parameters, grid, cost);
      MPI_Allreduce(MPI_IN_PLACE, cost.data(), figures, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } else {
      const int last_row = grid.rows - 1, last_column = grid.columns - 1;
      for (const GridPosition at : {GridPosition{0, 0}, {last_row, 0}, {0, last_column}, {last_row, last_column}}) {
        Cost of_rank{};
        measure_passes(parameters, grid, at, of_rank);
        std::ranges::transform(cost, of_rank, cost.begin(), [](double a, double b) { return std::max(a, b); });
      }
    }
    if (session.rank() == 0) print(name, parameters, cost, with_messages);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Measures what the driver costs a rank without arithmetic.");
  app.add_option("--grid", settings.grids, "PxQ,...; under mpirun of all its processes")->delimiter(',')->required();
  app.add_option("--local-n", settings.local_n, "N is this times the square root of P Q")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--nb", settings.nb, "Block size")->capture_default_str()->check(CLI::Range(1, 1 << 20));
  app.add_option("--pivoting", settings.pivoting, "local, partial, tournament")
      ->capture_default_str()
      ->check(CLI::IsMember({"local", "partial", "tournament"}));
  CLI11_PARSE(app, argc, argv);
  MpiSession session(argc, argv);
  try {
    measure(settings, session);
  } catch (const std::exception& error) {
    if (session.rank() == 0) std::cerr << error.what() << '\n';
    return session.finish(2);
  }
  return session.finish(0);
}
