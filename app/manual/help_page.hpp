// What --help says, taken apart: the one source of the man pages and of the shells' completion. Helps that CLI11 prints
// and those written by hand have the same layout, so both are read as text:
//
//   Description, of one or more lines.
//   Usage: glinpack plu [OPTIONS]
//
//   Heading:                            entries: two spaces, names, text, that goes on further right
//     -h,--help             Text
//     --n N,... ...         Text [default]
//
//   Examples:                           lines that stay as they are
//     glinpack plu
//
//   Paragraphs without indentation.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// An option, an environment variable, a file, a subcommand.
struct HelpEntry {
  std::vector<std::string> names;     // "-h", "--help"; of what is no option, one
  std::string type;                   // "N,...", "single|double", "FILE"; empty: takes no value
  std::vector<std::string> excludes;  // options that may not stand beside it
  std::string text;                   // one line, without the default
  std::string default_text;           // what stood in brackets at its end
};

struct HelpSection {
  std::string heading;             // without the colon
  std::vector<HelpEntry> entries;  // or
  std::vector<std::string> lines;  // as they are, but for two spaces in front
};

struct HelpPage {
  std::string description;  // one line
  std::string usage;        // "glinpack plu [OPTIONS]"
  std::vector<HelpSection> sections;
  std::vector<std::string> paragraphs;  // one line each, the exit codes left out
  std::string exit_codes;               // "0 all runs passed, 1 ..."
};

/// Reads what --help prints. Throws std::runtime_error for what does not have its layout.
HelpPage parse_help(const std::string& text);

/// Values that an option's type spells out: of "single|double" both, of "COUNT|auto" the last, of "N,..." none.
std::vector<std::string> choices_of(const HelpEntry& option);
/// Whether an option takes several values, with commas between them.
bool is_list(const HelpEntry& option);

}  // namespace glinpack::app
