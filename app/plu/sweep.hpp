// Executes the runs of a sweep in sequence and reports them.
#pragma once

#include <span>
#include <vector>

#include "app/program/machine.hpp"
#include "app/program/outputs.hpp"
#include "app/program/planned_runs.hpp"
#include "app/record/run_record.hpp"

namespace glinpack::app {

/// The input of a sweep. It is the same on every rank, except `machine` and the members for rank 0.
struct SweepInput {
  const MpiSession& session;
  PluOptions options = {};
  std::vector<RunRecord> planned = {};
  Machine machine = {};
  // rank 0 only
  std::vector<double> matrix = {};  // of --input, row-major
  OutputPaths outputs = {};
  ReportContext context = {};
};

/// Collective over MPI_COMM_WORLD. Rank 0 prints the output of --dry-run and --explain-pass. `choices`: sentences on
/// the automatic choices, on rank 0.
void print_plan(const SweepInput& input, std::span<const std::string> choices);

/// Collective over MPI_COMM_WORLD. Creates the backend, makes the automatic choices, checks the memory and executes all
/// runs; rank 0 reports and writes the files. With --dry-run, only prints the plan. Returns the exit code, 0 or 1 (a
/// run failed). What it throws, it throws on every rank.
int run_sweep(SweepInput& input);

}  // namespace glinpack::app
