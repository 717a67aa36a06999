// What people read about a command: --help, the man page and its section of docs/options.md, from its option table;
// and the subcommand man-pages.
#pragma once

#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "app/program/command.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

/// The program (without a command's name), or a subcommand.
struct CommandPage {
  std::string summary;  // one line
  OptionTable table;
};

/// The program's own help: its options, subcommands, environment variables and files.
OptionTable program_table(const Program& program);
/// The program's page, then one for each subcommand.
std::vector<CommandPage> all_pages(const Program& program);
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

OptionTable man_pages_table(ManPagesOptions& options, const Program& program);

/// Throws InputError.
void check(const ManPagesOptions& options);

/// Writes the program's page and a page for each subcommand into the folder; creates the folder if it is missing.
/// Throws InputError if a page exists and may not be replaced. With `markdown`, writes the options page to `out`
/// instead.
void run_man_pages_command(const ManPagesOptions& options, const Program& program, std::ostream& out);

template <const Program& (*program)()>
OptionTable man_pages_table(ManPagesOptions& options) {
  return man_pages_table(options, program());
}

/// The subcommand man-pages of a program.
template <const Program& (*program)()>
constexpr Command man_pages_command(const char* heading) {
  return {"man-pages", "Write the man pages", heading, table_of<man_pages_table<program>>,
          [](const Invocation& invocation) {
            const ManPagesOptions options = parse(invocation.arguments, man_pages_table<program>).options;
            check(options);
            if (launcher_rank() == 0) run_man_pages_command(options, program(), std::cout);
            return 0;
          }};
}

}  // namespace glinpack::app
