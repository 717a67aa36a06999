// Free text in a report: notes, device names, reasons. Programs that read HPL reports look for rows of numbers, so that
// nothing but a result may hold one.
#pragma once

#include <string>
#include <string_view>

namespace glinpack::app {

/// The text on one line (runs of blanks and control characters become one blank), with a comma wherever a number would
/// follow another after nothing but blanks.
std::string free_text(std::string_view text);

}  // namespace glinpack::app
