// The runs of a sweep, one after the other, and their reports.
#pragma once

#include <span>
#include <vector>

#include "app/machine.hpp"
#include "app/outputs.hpp"
#include "app/plan.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app {

/// What a sweep needs. The same on every rank, but for `machine` (each rank's own) and what only rank 0 uses.
struct SweepInput {
  PluOptions options;
  std::vector<RunRecord> planned;
  Machine machine;
  const MpiSession& session;
  // rank 0 only
  std::vector<double> matrix;  // of --input, row-major
  OutputPaths outputs;
  ReportContext context;
};

/// Collective over MPI_COMM_WORLD. Prints what --dry-run and --explain-pass ask for, on rank 0. `choices`: what was
/// left to glinpack, in sentences; on rank 0.
void print_plan(const SweepInput& input, std::span<const std::string> choices);

/// Collective over MPI_COMM_WORLD. Makes the backend, chooses what the plan leaves to choose, checks the memory, runs
/// everything, reports on rank 0 and writes its files; or prints the plan where it is not to run. Returns the exit
/// code, 0 or 1 (a run failed), on every rank. Throws on every rank alike: InputError for what the user can mend, else
/// std::runtime_error.
int run_sweep(SweepInput& input);

}  // namespace glinpack::app
