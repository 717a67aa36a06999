// `glinpack doctor`, and its quick checks before a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/doctor/gather.hpp"

namespace glinpack::app::doctor {

/// Starts MPI, gathers facts, measures, and ends MPI; works under any MPI's launcher. argv is the program's. Returns
/// the exit code, the same on every rank: 0 nothing failed, 1 a check failed, 2 unusable input, 3 an error.
int run_doctor_command(int argc, char** argv);

/// Collective over MPI_COMM_WORLD; takes milliseconds. Returns one line per problem on rank 0; empty on other ranks.
/// `devices`: this node's EGL devices if they were already listed.
std::vector<std::string> notes_before_run(const MpiSession& session, const Target& target,
                                          const std::optional<std::vector<gl::DeviceDescription>>& devices);

}  // namespace glinpack::app::doctor
