// --watchdog of the subcommands that run on several ranks (docs/diagnosing.md).
#pragma once

#include <memory>
#include <optional>

#include "app/input/input_error.hpp"
#include "app/options/fields.hpp"
#include "watch/watchdog.hpp"

namespace glinpack::app {

inline constexpr int exit_interrupted = 4;  // a signal ended the program; completed runs are reported

/// `seconds`: empty means off, the default.
Field watchdog_field(std::optional<double>& seconds);

/// The option's value, for run_under_mpi(); off if the arguments are unusable, which the command reports.
template <auto table>
std::optional<double> watchdog_limit(const Texts& arguments) {
  try {
    return parse(arguments, table).options.watchdog;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Collective over MPI_COMM_WORLD. Starts the watchdog as rank 0's value says; null if it is off. Throws InputError if
/// the ranks cannot reach each other.
std::unique_ptr<Watchdog> start_watchdog(const std::optional<double>& seconds);

}  // namespace glinpack::app
