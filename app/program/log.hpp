// The program's log: spdlog's default logger, on stderr. Code logs with spdlog::debug(), spdlog::warn() and so on.
#pragma once

#include <functional>
#include <string>

namespace glinpack::app {

/// Sends the log to stderr, at the level that GLINPACK_LOG names, else at info. Call it first. Throws InputError for an
/// unknown level.
///
/// Levels trace and debug show time, host, rank (if there are several) and level. The other levels show messages as
/// they are, and warnings as "glinpack: warning: HOST, rank 1: MESSAGE".
void start_log();

/// Makes a part of a report. If `make` throws, logs a warning and returns false, so that no result is lost.
bool make_or_warn(const std::string& part, const std::function<void()>& make);

}  // namespace glinpack::app
