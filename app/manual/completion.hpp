// The subcommand completion: the script for bash that completes a program's command line from what --help prints.
#pragma once

#include <iostream>
#include <string>

#include "app/program/command.hpp"
#include "app/program/outputs.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

std::string completion_script(const std::string& program);

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
            if (launcher_rank() == 0) print(std::cout, completion_script(program().name));
            return 0;
          }};
}

}  // namespace glinpack::app
