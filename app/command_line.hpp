// The command line of a program: finds the subcommand, runs it, and reports errors.
#pragma once

#include "app/program/command.hpp"

namespace glinpack::app {

/// The whole of main(). Returns the exit code.
int run_program(const Program& program, int argc, char** argv);

}  // namespace glinpack::app
