// `glinpack plu`: the benchmark.
#pragma once

#include <string>
#include <vector>

#include "app/options/plu_options.hpp"
#include "app/program/command.hpp"
#include "app/program/machine.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD. Checks the machine before a run; returns lines for the report on rank 0.
using ChecksBeforeRun = std::vector<std::string> (*)(const MpiSession& session, const PluOptions& options,
                                                     const Machine& machine);

/// Returns the exit code, the same on every rank.
int run_plu_command(const Invocation& invocation, ChecksBeforeRun checks);

}  // namespace glinpack::app
