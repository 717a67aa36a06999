// The subcommand completion: the script for bash that completes a program's command line: subcommands, options, and the
// values that an option's type lists.
#pragma once

#include <iostream>
#include <span>
#include <string>

#include "app/manual/pages.hpp"
#include "app/program/outputs.hpp"

namespace glinpack::app {

/// `pages`: all_pages() of a program.
std::string completion_script(std::span<const CommandPage> pages);

struct CompletionOptions {};

OptionTable completion_table(CompletionOptions& options, const Program& program);

template <const Program& (*program)()>
OptionTable completion_table(CompletionOptions& options) {
  return completion_table(options, program());
}

/// The subcommand completion of a program.
template <const Program& (*program)()>
constexpr Command completion_command(const char* heading) {
  return {"completion", "Print the script with which a shell completes options", heading,
          table_of<completion_table<program>>, [](const Invocation& invocation) {
            parse(invocation.arguments, completion_table<program>);
            if (launcher_rank() == 0) print(std::cout, completion_script(all_pages(program())));
            return 0;
          }};
}

}  // namespace glinpack::app
