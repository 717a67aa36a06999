// Free text in a report: notes, device names, reasons. Programs that read HPL reports look for rows of numbers, so only
// results may have such rows.
#pragma once

#include <string>
#include <string_view>

namespace glinpack::app {

/// Puts the text on one line: each run of blanks and control characters becomes one blank. Adds a comma between numbers
/// that only blanks separate.
std::string free_text(std::string_view text);

}  // namespace glinpack::app
