// "Did you mean ...?": the valid name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name with the smallest edit distance, upper and lower case being the same; none where even that one is too far
/// off to have been meant.
std::optional<std::string> nearest_name(std::string_view given, std::span<const std::string> names);

/// " (did you mean NAME?)", or "" where nothing is near.
std::string did_you_mean(std::string_view given, std::span<const std::string> names);

/// "a, b or c".
std::string enumerate(std::span<const std::string> names);

/// "a|b|c": the type of an option that takes one of `names`. Man pages and completion read it in --help.
std::string one_of(std::span<const std::string> names);
/// "a|b|c|all,...": of one that takes a list of them, `others` being the words that stand for several or none.
std::string some_of(std::span<const std::string> names, const std::vector<std::string>& others);

}  // namespace glinpack::app
