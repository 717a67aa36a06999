// Quantities with units, in options and reports.
#pragma once

#include <string>
#include <string_view>

namespace glinpack::app {

/// Bytes: "80G" and "80GB" are 80 x 10^9 bytes, "80GiB" 80 x 2^30; K, M, G, T. Throws InputError if the unit is
/// missing.
double parse_bytes(std::string_view text);
/// Bytes a second: "100Gb/s", "100Gbit/s", "100gbit" are bits, "12.5GB/s" bytes; powers of ten. Throws InputError if
/// the unit is missing or ambiguous.
double parse_link_rate(std::string_view text);
/// Seconds: "2us", "1.5ms", "800ns", "1s". Throws InputError if the unit is missing.
double parse_latency(std::string_view text);

/// "12.5 GB/s", "48.3 TFLOPS", "2.1 us", "1 h 12 min": three or four digits.
std::string link_rate_text(double bytes_a_second);
std::string flop_rate_text(double flops_a_second);
std::string seconds_text(double seconds);

}  // namespace glinpack::app
