// Parses the output of --help, the only source of the man pages and of shell completion. CLI11's helps and handwritten
// ones have the same layout:
//
//   Description, of one or more lines.
//   Usage: glinpack plu [OPTIONS]
//
//   Heading:                            entries: two spaces, names, text, continued further right
//     -h,--help             Text
//     --n N,... ...         Text [default]
//
//   Examples:                           verbatim lines
//     glinpack plu
//
//   Paragraphs without indentation.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// An entry: an option, environment variable, file or subcommand.
struct HelpEntry {
  std::vector<std::string> names;     // "-h", "--help"; of what is no option, one
  std::string type;                   // "N,...", "single|double", "FILE"; empty: takes no value
  std::vector<std::string> excludes;  // options that cannot be combined with it
  std::string text;                   // one line, without the default
  std::string default_text;           // the text in brackets at its end
};

struct HelpSection {
  std::string heading;             // without the colon
  std::vector<HelpEntry> entries;  // either entries
  std::vector<std::string> lines;  // or lines, verbatim without the two leading spaces
};

struct HelpPage {
  std::string description;  // one line
  std::string usage;        // "glinpack plu [OPTIONS]"
  std::vector<HelpSection> sections;
  std::vector<std::string> paragraphs;  // one line each, without the exit codes
  std::string exit_codes;               // "0 all runs passed, 1 ..."
};

/// Parses the output of --help. Throws std::runtime_error if the layout is another.
HelpPage parse_help(const std::string& text);

/// The values that an option's type lists: both for "single|double", the last for "COUNT|auto", none for "N,...".
std::vector<std::string> choices_of(const HelpEntry& option);
/// True if an option takes several comma-separated values.
bool is_list(const HelpEntry& option);

}  // namespace glinpack::app
