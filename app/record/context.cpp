#include "app/record/context.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "app/record/json.hpp"
#include "mpi/session.hpp"
#include "version.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

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
    const auto is_start = [name = whole.filename().string()](std::string_view text) { return name.starts_with(text); };
    if (!error && std::ranges::any_of(beginnings, is_start)) names.insert(whole.filename());
  }
  return names;
}

}  // namespace

json program_json(const ReportContext& context) {
  json launcher;
  if (const std::string name = launcher_name(); !name.empty() || !context.launcher.empty()) {
    launcher = {{"name", null_if_empty(name)}, {"command_line", context.launcher}};
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
