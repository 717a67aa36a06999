// Runs a subcommand under MPI, from MPI_Init to the exit code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/record/run_record.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// The body of a subcommand; `arguments` follow its name. Returns the exit code, the same on every rank.
using MpiCommand =
    std::function<int(const MpiSession& session, const std::vector<std::string>& arguments, ReportContext context)>;

/// Starts MPI and the watchdog with its limit, calls the command with the context of its reports, and ends MPI. argv is
/// the program's. One rank prints errors that reach every rank: InputError gives 2, AgreedError 3. Any other error
/// aborts the job.
int run_under_mpi(int argc, char** argv, std::optional<double> (*watchdog_limit)(const std::vector<std::string>&),
                  const MpiCommand& command, ForeignLauncher foreign = ForeignLauncher::refused);

}  // namespace glinpack::app
