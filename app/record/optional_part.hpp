// Parts of a report other than results.
#pragma once

#include <functional>
#include <string>

namespace glinpack::app {

/// Calls `make`. If it throws, logs the error as a warning and returns false, so that no result is lost.
bool made_or_warned(const std::string& what, const std::function<void()>& make);

}  // namespace glinpack::app
