// Lines of comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// Between quotes where it needs them.
std::string csv_field(std::string_view text);
/// The fields, and the line's end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace glinpack::app
