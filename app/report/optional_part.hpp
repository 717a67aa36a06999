// Parts of a report that are no results.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace glinpack::app {

/// Calls `make`. What it throws becomes a line on `warnings`, and false is returned: no result is to be lost for what
/// is said besides.
bool made_or_warned(const std::string& what, const std::function<void()>& make, std::ostream& warnings);

}  // namespace glinpack::app
