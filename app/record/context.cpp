#include "app/record/context.hpp"

#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include "app/doctor/pci.hpp"
#include "app/program/launcher.hpp"
#include "app/program/topology.hpp"
#include "host/host_memory.hpp"
#include "mpi/session.hpp"
#include "sensors/kernel_sensors.hpp"
#include "version.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return text.starts_with(b); });
}

std::map<std::string, std::string> relevant_environment() {
  static constexpr std::array<std::string_view, 17> beginnings{
      "MPI",       "HYDRA_", "I_MPI_",  "OMPI_MCA_", "UCX_",   "FI_",  "OMP_",   "GOMP_",
      "OPENBLAS_", "LP_",    "GALLIUM", "MESA",      "LIBGL_", "EGL_", "__EGL_", "CUDA_VISIBLE_DEVICES",
      "GLINPACK_"};
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t end = text.find('=');
    if (end == std::string_view::npos || !begins_with_one_of(text, beginnings)) continue;
    variables.emplace(text.substr(0, end), text.substr(end + 1));
  }
  return variables;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Libraries for messages, BLAS and OpenGL that this process has loaded: file names with their versions.
std::set<std::string> loaded_libraries() {
  static constexpr std::array<std::string_view, 14> beginnings{
      "libmpi",     "libopen-pal", "libpmix", "libucp",     "libfabric", "libopenblas", "libblas",
      "liblapacke", "libEGL",      "libGLX_", "libgallium", "libLLVM",   "libhwloc",    "swrast_dri"};
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t, void* list) {
    if (info->dlpi_name != nullptr) static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  std::set<std::string> names;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::canonical(path, error);
    if (!error && begins_with_one_of(whole.filename().native(), beginnings)) names.insert(whole.filename());
  }
  return names;
}

/// "Debian GNU/Linux 12 (bookworm)", of /etc/os-release.
std::string system_name() {
  std::istringstream lines(contents_of("/etc/os-release"));
  const std::string key = "PRETTY_NAME=";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::erase(line, '"');
    return line.substr(key.size());
  }
  return {};
}

std::string gpu_driver() {
  if (const std::string nvidia = doctor::nvidia_kernel_driver(); !nvidia.empty()) return "NVIDIA " + nvidia;
  for (const char* module : {"amdgpu", "i915", "xe"}) {
    const std::string folder = std::string("/sys/module/") + module;
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) continue;
    const std::string version = sensors::line_of(folder + "/version").value_or("");
    return module + (version.empty() ? "" : " " + version);
  }
  return {};
}

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

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
          {"system", text_or_null(system_name())},
          {"kernel", known ? json(std::string(system.sysname) + " " + system.release) : json()},
          {"processor", text_or_null(processor_name())},
          {"sockets", node.sockets},
          {"cores", node.node_cores},
          {"hardware_threads", node.node_processors},
          {"memory_bytes", number_named("/proc/meminfo", "MemTotal").value_or(0) * 1024},
          {"gpus", doctor::PciBus().gpus().size()},
          {"gpu_driver", text_or_null(gpu_driver())}};
}

json program_json(const ReportContext& context) {
  json launcher;
  if (const std::string name = launcher_name(); !name.empty() || !context.launcher.empty()) {
    launcher = {{"name", text_or_null(name)}, {"command_line", context.launcher}};
  }
  return {{"program", "glinpack"},
          {"version", context.version},
          {"git_commit", context.git_commit},
          {"build", {{"compiler", compiler}, {"flags", compiler_flags}, {"mpi", MpiSession::headers_version()}}},
          {"libraries", loaded_libraries()},
          {"command_line", context.command_line},
          {"configuration", context.configuration.is_null() ? json::object() : context.configuration},
          {"launcher", launcher},
          {"environment", context.environment},
          {"nodes", context.nodes}};
}

json context_json(const ReportContext& context, const std::set<std::string>& hosts) {
  json document = program_json(context);
  document["mpi_library"] = context.mpi_library;
  document["world_size"] = context.world_size;
  document["hosts"] = hosts;
  document["notes"] = context.notes;
  return document;
}

}  // namespace glinpack::app
