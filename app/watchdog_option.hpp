// --watchdog, of the subcommands that run over several ranks (docs/watchdog.md).
#pragma once

#include <memory>
#include <optional>

#include "app/option_set.hpp"
#include "watch/watchdog.hpp"

namespace glinpack::app {

inline constexpr int exit_interrupted = 4;  // a signal ended the program; what it had finished is reported

/// Adds the option; `seconds` is empty where it is off, as it is by default.
void add_watchdog(CLI::App& app, std::optional<double>& seconds);
nlohmann::json watchdog_json(const std::optional<double>& seconds);

/// Collective over MPI_COMM_WORLD: watches from here on, or null where that is off. Throws InputError where ranks
/// cannot reach each other.
std::unique_ptr<Watchdog> start_watchdog(const std::optional<double>& seconds);

}  // namespace glinpack::app
