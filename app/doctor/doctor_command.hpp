// `glinpack doctor`, and the quick part of it that goes before a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/doctor/gather.hpp"

namespace glinpack::app::doctor {

/// Starts MPI, whoever's launcher it is, looks, measures and ends it. argv is the program's. Returns the exit code, the
/// same on every rank: 0 nothing failed, 1 a check failed, 2 unusable input, 3 an error.
int run_doctor_command(int argc, char** argv);

/// Collective over MPI_COMM_WORLD, some milliseconds. On rank 0 a line for everything that is wrong; empty elsewhere.
/// `devices`: what EGL has told of this node already, none where it was not asked.
std::vector<std::string> notes_before_run(const MpiSession& session, const Target& target,
                                          const std::optional<std::vector<gl::DeviceDescription>>& devices);

}  // namespace glinpack::app::doctor
