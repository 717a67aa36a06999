// What people read about a command: --help, the man page and its section of docs/options.md, from its option table;
// and `glinpack man-pages`.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"

namespace glinpack::app {

/// The program (without a command's name), or a subcommand.
struct CommandPage {
  std::string summary;  // one line
  OptionTable table;
};

/// The program's page, then one for each subcommand.
std::vector<CommandPage> all_pages();
/// "glinpack", "glinpack-plu".
std::string name_of(const CommandPage& page);

/// What --help prints: lines of at most 80 columns.
std::string help_of(const OptionTable& table);
template <class Options>
std::string help_of(OptionTable (*table)(Options&)) {
  return help_of(default_table(table));
}

/// A page of section 1 in roff's man macros. `others`: pages for SEE ALSO.
std::string man_page(const CommandPage& page, const Texts& others);

/// docs/options.md: the options of all commands as Markdown tables.
std::string options_document(std::span<const CommandPage> pages);

struct ManPagesOptions {
  std::string output_dir;
  bool force = false;
  bool markdown = false;
};

OptionTable man_pages_table(ManPagesOptions& options);

/// Throws InputError.
ManPagesOptions parse_man_pages_options(const Texts& arguments);

/// Writes glinpack.1 and a page for each subcommand into the folder; creates the folder if it is missing. Throws
/// InputError if a page exists and may not be replaced. With `markdown`, writes docs/options.md to `out` instead.
void run_man_pages_command(const ManPagesOptions& options, std::ostream& out);

}  // namespace glinpack::app
