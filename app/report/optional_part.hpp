// Parts of a report other than results.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace glinpack::app {

/// Calls `make`. If it throws, prints the error as a line on `warnings` and returns false, so that no result is lost.
bool made_or_warned(const std::string& what, const std::function<void()>& make, std::ostream& warnings);

}  // namespace glinpack::app
