// Lines of comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// Quotes the field if necessary.
std::string csv_field(std::string_view text);
/// Joins the fields and adds the line end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace glinpack::app
