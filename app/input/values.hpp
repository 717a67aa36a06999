// Parses text into values for the command line, TOML files and HPL.dat. All functions throw InputError with the value
// and what is expected; the caller adds the location.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "matrix/distribution.hpp"

namespace glinpack::app {

inline constexpr Index largest_n = 1'000'000'000'000'000;  // keeps sums and products of a few of them within 64 bits
inline constexpr Index largest_nb = 1'000'000;
inline constexpr Index largest_processes = 1'000'000;
inline constexpr int largest_device = 4096;   // an index of `glinpack devices`
inline constexpr int largest_threads = 4096;  // of a process
inline constexpr std::size_t longest_list = 1000;

/// `text` in quotes, with unprintable characters replaced, and truncated: safe in a message.
std::string in_quotes(std::string_view text);

std::string in_lower_case(std::string text);

/// "1 rank", "4 ranks", "2 passes": for nouns with a plural in s or es.
std::string counted(std::integral auto count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

/// A whole number in [minimum, maximum], decimal, without suffix.
Index parse_whole(std::string_view text, Index minimum, Index maximum);
/// The same, also as 1.5e4, 8k (8000), 8Ki (8192), 1M (10^6) or 1Mi (2^20).
Index parse_size(std::string_view text, Index minimum, Index maximum);
/// A finite real number; empty for any other text.
std::optional<double> real_of(std::string_view text);
double parse_real(std::string_view text);
/// A fraction: greater than 0, at most 1.
double parse_fraction(std::string_view text);
/// Seconds: greater than 0, at most a million.
double parse_seconds(std::string_view text);
/// Minutes: greater than 0, at most 1e5.
double parse_minutes(std::string_view text);
/// Watts: greater than 0, at most 1e9.
double parse_watts(std::string_view text);
/// "2x3" or "2X3": P rows and Q columns, each at least 1.
GridShape parse_grid(std::string_view text);
/// The parts between commas and white space. Throws if there is none, one is empty ("1,,2"), or there are too many.
std::vector<std::string> split_list(const std::vector<std::string>& tokens);

/// "12.3 GiB".
std::string memory_text(double bytes);

// "Did you mean ...?": finds the valid name nearest to a misspelt one.

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

/// Bytes: "80G" and "80GB" are 80 x 10^9 bytes, "80GiB" 80 x 2^30; K, M, G, T. The unit may not be missing.
double parse_bytes(std::string_view text);
/// Bytes a second: "100Gb/s", "100Gbit/s", "100gbit" are bits, "12.5GB/s" bytes; powers of ten.
double parse_link_rate(std::string_view text);
/// Seconds: "2us", "1.5ms", "800ns", "1s".
double parse_latency(std::string_view text);

}  // namespace glinpack::app
