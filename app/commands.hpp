// The two programs and their subcommands.
#pragma once

#include "app/program/command.hpp"

namespace glinpack::app {

/// The benchmark and its tools.
const Program& glinpack_program();
/// The solvers of the papers.
const Program& papers_program();

}  // namespace glinpack::app
