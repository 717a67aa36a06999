#include "app/program/reexecution.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "openblas/blas_library.hpp"

namespace glinpack::app {

namespace {

constexpr const char* kernels_variable = "OPENBLAS_CORETYPE";
// Holds OpenBLAS's original choice of kernels. Its presence marks the second execution.
constexpr const char* marker = "GLINPACK_KERNELS_BEFORE";

}  // namespace

void execute_again_with_better_kernels(char** argv) {
  if (getenv(marker) != nullptr || getenv(kernels_variable) != nullptr) return;
  const std::optional<std::string> better = better_kernels();
  if (!better) return;
  setenv(marker, blas_kernels().c_str(), 1);
  setenv(kernels_variable, better->c_str(), 1);
  // executes the path, which keeps the name in ps and top; the link if the file has moved
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(program.c_str(), argv);
  execv("/proc/self/exe", argv);
  // if execution failed, the program continues with the slow kernels
  unsetenv(marker);
  unsetenv(kernels_variable);
}

std::vector<std::string> reexecution_notes() {
  const char* before = getenv(marker);
  const char* kernels = getenv(kernels_variable);
  if (before == nullptr || kernels == nullptr) return {};
  return {std::string(kernels_variable) + "=" + kernels + " set: OpenBLAS had chosen " + before};
}

std::string kernels_before_reexecution() {
  const char* before = getenv(marker);
  return before == nullptr ? "" : before;
}

}  // namespace glinpack::app
