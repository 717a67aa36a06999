// --watchdog of the subcommands that run on several ranks (docs/diagnosing.md).
#pragma once

#include <memory>
#include <optional>

#include "app/options/fields.hpp"
#include "watch/watchdog.hpp"

namespace glinpack::app {

inline constexpr int exit_interrupted = 4;  // a signal ended the program; completed runs are reported

/// `seconds`: empty means off, the default.
Field watchdog_field(std::optional<double>& seconds);

/// Collective over MPI_COMM_WORLD. Starts the watchdog; null if it is off. Throws InputError if the ranks cannot reach
/// each other.
std::unique_ptr<Watchdog> start_watchdog(const std::optional<double>& seconds);

}  // namespace glinpack::app
