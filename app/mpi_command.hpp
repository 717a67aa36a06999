// A subcommand that runs under MPI, from MPI's start to the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/report/run_record.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// What a subcommand does: `arguments` follow its name. Returns the exit code, the same on every rank.
using MpiCommand =
    std::function<int(const MpiSession& session, const std::vector<std::string>& arguments, ReportContext context)>;

/// Starts MPI, calls the command with what its reports begin with, and ends MPI. argv is the program's. Errors that
/// reach every rank are printed by one: InputError gives 2, AgreedError 3; any other ends the job.
int run_under_mpi(int argc, char** argv, const MpiCommand& command, ForeignLauncher foreign = ForeignLauncher::refused);

}  // namespace glinpack::app
