// Runs a subcommand under MPI, from MPI_Init to the exit code.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/input/input_error.hpp"
#include "app/program/command.hpp"
#include "app/record/run_record.hpp"
#include "mpi/process_grid.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

inline constexpr int exit_interrupted = 4;  // a signal ended the program; completed runs are reported

/// --watchdog, in seconds; empty: off, or the arguments are unusable, which the command reports.
template <auto table>
std::optional<double> watchdog_limit(const Texts& arguments) {
  try {
    return parse(arguments, table).options.watchdog;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The body of a subcommand. Returns the exit code, the same on every rank.
using MpiCommand = std::function<int(const MpiSession& session, const Texts& arguments, ReportContext context)>;

/// Starts MPI and the watchdog with its limit, calls the command with the context of its reports, and ends MPI. One
/// rank prints errors that reach every rank: InputError gives 2, AgreedError 3. Any other error aborts the job.
int run_under_mpi(Invocation invocation, std::optional<double> (*watchdog_limit)(const Texts&),
                  const MpiCommand& command, ForeignLauncher foreign = ForeignLauncher::refused);

/// Keeps the process grid of the previous run: the grid changes least often in a sweep.
class GridCache {
 public:
  /// Collective over MPI_COMM_WORLD.
  const ProcessGrid& grid_for(const RunRecord& run) {
    if (!grid_ || grid_->shape() != run.grid || order_ != run.order || node_grid_ != run.node_grid) {
      grid_.reset();
      grid_ = std::make_unique<ProcessGrid>(MPI_COMM_WORLD, run.grid, run.order, run.node_grid);
      order_ = run.order;
      node_grid_ = run.node_grid;
    }
    return *grid_;
  }

 private:
  std::unique_ptr<ProcessGrid> grid_;
  RankOrder order_ = RankOrder::row_major;
  std::optional<GridShape> node_grid_;
};

}  // namespace glinpack::app
