// The solvers of the papers (docs/papers/README.md). Each runs in one process; poisson also runs on several.
#pragma once

#include <string>
#include <vector>

namespace glinpack {
class MpiSession;
}

namespace glinpack::app {

struct ModeInvocation {
  std::vector<std::string> command_line;  // the program's
  std::vector<std::string> arguments;     // those after the mode's name
  std::vector<std::string> notes;         // for the report's head
  const MpiSession* session = nullptr;    // only for poisson
};

/// Each returns the exit code: 0, or 1 if a check failed. Throws InputError before any work for errors that the user
/// can correct, std::runtime_error for others. run_poisson is collective and returns the same on every rank.
int run_background(const ModeInvocation& invocation);
int run_banded(const ModeInvocation& invocation);
int run_gauss_jordan(const ModeInvocation& invocation);
int run_lu_methods(const ModeInvocation& invocation);
int run_matmul(const ModeInvocation& invocation);
int run_paranoia(const ModeInvocation& invocation);
int run_plu_packed(const ModeInvocation& invocation);
int run_poisson(const ModeInvocation& invocation);
int run_tridiagonal(const ModeInvocation& invocation);

}  // namespace glinpack::app
