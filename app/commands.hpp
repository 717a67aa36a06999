// The two programs and their subcommands.
#pragma once

#include "app/program/command.hpp"

namespace glinpack::app {

/// The benchmark and its tools.
const Program& glinpack_program();
/// The solvers of the papers.
const Program& papers_program();

/// The whole of main(): finds the subcommand, runs it, and reports errors. Returns the exit code.
int run_program(const Program& program, int argc, char** argv);

}  // namespace glinpack::app
