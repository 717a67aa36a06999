// Option values and texts that several commands share.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/options/plu_options.hpp"

namespace glinpack::app {

/// All backends, and "auto".
Texts backend_choices();
/// The backends for which `claim` is true.
Texts backend_choices(const std::function<bool(const BackendRecord&)>& claim);

/// One of `names`.
FieldValue name_value(std::string& option, Texts names);
/// Parses glinpack's name, HPL's name or HPL's digit.
BroadcastKind parse_broadcast(const std::string& text);
FieldValue broadcast_choice(BroadcastKind& option);
FieldValue row_swap_choice(RowSwapKind& option);
/// Single or double, without "mixed"; `why_not_mixed` is the error message for mixed, if there is a reason.
FieldValue single_or_double(Precision& option, const std::string& why_not_mixed = "");

/// --watchdog of the subcommands that run on several ranks (docs/diagnosing.md). Empty means off, the default.
Field watchdog_field(std::optional<double>& seconds);

std::string text_of(const GridShape& grid);  // "2x3"
/// The shortest decimal that reads back as the same number.
std::string text_of(double value);

}  // namespace glinpack::app
