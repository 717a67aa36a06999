// --group: the invocations of a work group of compute shaders. The fastest number is kept for later runs, beside the
// choices of matmul --tune.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/papers/mode.hpp"

namespace glinpack::app {

/// `help` names the variants.
Field group_field(Texts& option, const std::string& help, const std::string& default_text);
/// Throws InputError if --group is given, but none of its variants is.
void check_group(const Texts& group, const Texts& variants, const Texts& of);

/// The numbers to measure: those of `option`; if it is empty, the one kept for the variant, else none: the variant's
/// own.
std::vector<std::optional<Index>> groups_of(const Texts& option, const std::string& mode, std::string_view variant,
                                            Precision precision, const DeviceDescription& device);
/// Prints the fastest number of each size and variant, of the records that passed and have the parameter "group". Keeps
/// that of a variant's last size.
void keep_fastest_groups(const std::string& mode, ModeRun& run);

}  // namespace glinpack::app
