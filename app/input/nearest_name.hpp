// "Did you mean ...?": finds the valid name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// Insertions, deletions, substitutions and transpositions that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name with the smallest edit distance, ignoring case; empty if the distance is too large for a misspelling.
std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> names);

/// " (did you mean NAME?)", or "" if no name is near.
std::string did_you_mean(std::string_view given, std::span<const std::string> names);

/// "a, b or c".
std::string enumerate(std::span<const std::string> names);

/// "a|b|c": the type of an option that takes one of `names`. Shell completion takes it apart.
std::string one_of(std::span<const std::string> names);
/// "a|b|c|all,...": the type of an option that takes a list of `names`. `others`: words that mean several names or
/// none.
std::string some_of(std::span<const std::string> names, const std::vector<std::string>& others);

}  // namespace glinpack::app
