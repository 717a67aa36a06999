// Parses text into values for the command line, TOML files and HPL.dat. All functions throw InputError with the value
// and what is expected; the caller adds the location.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "matrix/distribution.hpp"

namespace glinpack::app {

inline constexpr Index largest_n = 1'000'000'000'000'000;  // keeps sums and products of a few of them within 64 bits
inline constexpr Index largest_nb = 1'000'000;
inline constexpr Index largest_processes = 1'000'000;
inline constexpr std::size_t longest_list = 1000;

/// `text` in quotes, with unprintable characters replaced, and truncated: safe in a message.
std::string in_quotes(std::string_view text);

/// A whole number in [minimum, maximum], decimal, without suffix.
Index parse_whole(std::string_view text, Index minimum, Index maximum);
/// The same, also as 1.5e4, 8k (8000), 8Ki (8192), 1M (10^6) or 1Mi (2^20).
Index parse_size(std::string_view text, Index minimum, Index maximum);
/// A finite real number.
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

}  // namespace glinpack::app
