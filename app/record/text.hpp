// Text of reports and CSV files. Programs that read HPL reports look for rows of numbers, so only results may have such
// rows: free text (notes, device names, reasons) may not.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

/// Puts the text on one line: each run of blanks and control characters becomes one blank. Adds a comma between numbers
/// that only blanks separate.
std::string free_text(std::string_view text);

/// Four significant digits: "0.001234", "12.34", "53740"; with an exponent if that is much shorter.
std::string figures(double value);

/// A list with blanks between its items; empty for null.
std::string text_of_json(const nlohmann::json& value);

/// "12.50 GB/s", "48.30 TFLOPS", "2.100 us", "1.20 h": three or four digits.
std::string link_rate_text(double bytes_a_second);
std::string flop_rate_text(double flops_a_second);
std::string seconds_text(double seconds);

/// A column of a CSV file, and the JSON pointer to its values.
struct CsvColumn {
  std::string name;
  std::string place;
};
/// Words "name", of a member, or "name=place", without the first slash.
std::vector<CsvColumn> csv_columns(std::string_view words);

/// A line of comma-separated values (RFC 4180) with its end; quotes fields if necessary.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace glinpack::app
