#include "app/program/program_context.hpp"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/program/log.hpp"
#include "app/program/topology.hpp"
#include "host/host_memory.hpp"
#include "openblas/blas_library.hpp"
#include "sensors/kernel_sensors.hpp"
#include "version.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

std::map<std::string, std::string> relevant_environment() {
  static constexpr std::array<std::string_view, 17> beginnings{
      "MPI",       "HYDRA_", "I_MPI_",  "OMPI_MCA_", "UCX_",   "FI_",  "OMP_",   "GOMP_",
      "OPENBLAS_", "LP_",    "GALLIUM", "MESA",      "LIBGL_", "EGL_", "__EGL_", "CUDA_VISIBLE_DEVICES",
      "GLINPACK_"};
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t end = text.find('=');
    if (end == std::string_view::npos ||
        !std::ranges::any_of(beginnings, [&](std::string_view b) { return text.starts_with(b); }))
      continue;
    variables.emplace(text.substr(0, end), text.substr(end + 1));
  }
  return variables;
}

/// "Debian GNU/Linux 12 (bookworm)", of /etc/os-release.
std::string system_name() {
  std::ifstream lines("/etc/os-release");
  const std::string key = "PRETTY_NAME=";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::erase(line, '"');
    return line.substr(key.size());
  }
  return {};
}

std::string gpu_driver() {
  if (const std::string nvidia = nvidia_kernel_driver(); !nvidia.empty()) return "NVIDIA " + nvidia;
  for (const char* module : {"amdgpu", "i915", "xe"}) {
    const std::string folder = std::string("/sys/module/") + module;
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) continue;
    const std::string version = sensors::line_of(folder + "/version").value_or("");
    return module + (version.empty() ? "" : " " + version);
  }
  return {};
}

constexpr const char* kernels_variable = "OPENBLAS_CORETYPE";
// Holds OpenBLAS's original choice of kernels. Its presence marks the second execution.
constexpr const char* marker = "GLINPACK_KERNELS_BEFORE";

}  // namespace

ReportContext process_context(std::vector<std::string> command_line) {
  ReportContext context;
  context.command_line = std::move(command_line);
  context.git_commit = git_commit;
  context.version = version;
  if (const std::optional<LauncherProcess> launcher = find_launcher()) context.launcher = launcher->command_line;
  context.environment = relevant_environment();
  return context;
}

json node_json() {
  const NodeView node = view_node();
  utsname system{};
  const bool known = uname(&system) == 0;
  return {{"host", node.host},
          {"system", null_if_empty(system_name())},
          {"kernel", known ? json(std::string(system.sysname) + " " + system.release) : json()},
          {"processor", null_if_empty(processor_name())},
          {"sockets", node.sockets},
          {"cores", node.node_cores},
          {"hardware_threads", node.node_processors},
          {"memory_bytes", bytes_of_host_memory("MemTotal")},
          {"gpus", PciBus().gpus().size()},
          {"gpu_driver", null_if_empty(gpu_driver())}};
}

json program_context(const std::vector<std::string>& command_line, json configuration) {
  ReportContext context = process_context(command_line);
  context.configuration = std::move(configuration);
  context.nodes = {node_json()};
  return program_json(context);
}

json device_json(const DeviceDescription& device) {
  return {{"index", device.index},
          {"renderer", device.renderer},
          {"version", device.version},
          {"uuid", null_if_empty(device.uuid)},
          {"software", device.software}};
}

MeasuredQuantity in_unit(const Measured& measured, const char* unit, double scale) {
  return {unit, {measured.median * scale, measured.min * scale, measured.max * scale, measured.repetitions}};
}

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
