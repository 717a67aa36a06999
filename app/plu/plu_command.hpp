// `glinpack plu`: the benchmark.
#pragma once

#include <string>
#include <vector>

#include "app/options/plu_options.hpp"
#include "app/program/machine.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. Checks the machine before a run; returns lines for the report on rank 0.
using ChecksBeforeRun = std::vector<std::string> (*)(const MpiSession& session, const PluOptions& options,
                                                     const Machine& machine);

/// Starts MPI, runs the benchmark and ends MPI. argv is the program's. `notes`: for the report. Returns the exit code,
/// the same on every rank: 0 all runs passed, 1 a run failed its check, 2 unusable input, 3 an error while running.
int run_plu_command(int argc, char** argv, std::vector<std::string> notes, ChecksBeforeRun checks);

}  // namespace glinpack::app
