// Runs a subcommand under MPI, from MPI_Init to the exit code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/input/input_error.hpp"
#include "app/options/fields.hpp"
#include "app/record/context.hpp"
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

/// The body of a subcommand; `arguments` follow its name. Returns the exit code, the same on every rank.
using MpiCommand =
    std::function<int(const MpiSession& session, const std::vector<std::string>& arguments, ReportContext context)>;

/// Starts MPI and the watchdog with its limit, calls the command with the context of its reports, and ends MPI. argv is
/// the program's. One rank prints errors that reach every rank: InputError gives 2, AgreedError 3. Any other error
/// aborts the job.
int run_under_mpi(int argc, char** argv, std::optional<double> (*watchdog_limit)(const std::vector<std::string>&),
                  const MpiCommand& command, ForeignLauncher foreign = ForeignLauncher::refused);

}  // namespace glinpack::app
