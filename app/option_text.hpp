// Values of options that several commands have, and their texts.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace glinpack::app {

/// All backends, and "auto".
Texts backend_choices();
/// The backends that "auto" may stand for, without and with "auto" itself.
Texts given_backend_choices();
Texts measured_backend_choices();

/// One of `names`.
FieldValue name_value(std::string& option, Texts names);
/// By glinpack's name, HPL's name or HPL's digit.
BroadcastKind parse_broadcast(const std::string& text);
FieldValue broadcast_value(BroadcastKind& option);
FieldValue row_swap_value(RowSwapKind& option);
/// Without "mixed"; `why_not_mixed` is its error message, if mixed is refused for a reason.
FieldValue single_or_double(Precision& option, const std::string& why_not_mixed = "");
Precision precision_from_name(const std::string& text);

std::string text_of(const GridShape& grid);  // "2x3"
/// The shortest decimal that reads back as the same number.
std::string text_of(double value);

}  // namespace glinpack::app
