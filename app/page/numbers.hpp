// Formats numbers for pages and comparisons.
#pragma once

#include <optional>
#include <string>

#include "app/record/text.hpp"

namespace glinpack::app {

/// Like figures(double); "-" if empty.
std::string figures(const std::optional<double>& value);
/// "12.34 s", "1.234 ms", "56.78 us".
std::string duration(double seconds);
/// "1.234 GB": powers of ten.
std::string amount_of_bytes(double bytes);
/// Formats seconds since 1970: "2026-11-22 10:42 UTC".
std::string date_text(double seconds_since_1970);

}  // namespace glinpack::app
