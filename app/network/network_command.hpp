// `glinpack network`: measures the messages of a factorisation, ping-pong, and all links.
#pragma once

namespace glinpack::app {

/// Starts MPI, measures and ends it. argv is the program's. Returns the exit code, the same on every rank: 0 measured,
/// 2 unusable input, 3 an error while running.
int run_network_command(int argc, char** argv);

}  // namespace glinpack::app
