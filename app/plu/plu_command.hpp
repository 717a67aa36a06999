// `glinpack plu`: the benchmark.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// Starts MPI, runs the benchmark and ends MPI. argv is the program's. `notes`: for the report. Returns the exit code,
/// the same on every rank: 0 all runs passed, 1 a run failed its check, 2 unusable input, 3 an error while running.
int run_plu_command(int argc, char** argv, std::vector<std::string> notes);

}  // namespace glinpack::app
