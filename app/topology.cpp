#include "app/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "global/communication.hpp"

namespace glinpack::app {

namespace {

constexpr const char* cgroup_root = "/sys/fs/cgroup";

std::optional<std::int64_t> first_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// The number behind "name" or "name:" in a file of such lines.
std::optional<std::int64_t> number_named(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t number = 0;
    if (words >> word >> number && (word == name || word == name + ":")) return number;
  }
  return std::nullopt;
}

// The folders of this process's cgroup and those above it, whose limits hold for it, too: version 2, and version 1's
// of one controller.
std::vector<std::string> cgroup_folders(const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "0::/path" or "4:memory:/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version_2 = controllers.empty();
    if (!version_2 && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    const std::string root = version_2 ? cgroup_root : std::string(cgroup_root) + "/" + controller;
    std::string path = line.substr(second + 1);
    while (!path.empty() && path != "/") {
      folders.push_back(root + path);
      path.erase(path.rfind('/'));
    }
    folders.push_back(root);
  }
  return folders;
}

std::int64_t memory_left_by_cgroups() {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  for (const std::string& folder : cgroup_folders("memory")) {
    for (const auto& [limit_name, usage_name] :
         {std::pair{"/memory.max", "/memory.current"}, std::pair{"/memory.limit_in_bytes", "/memory.usage_in_bytes"}}) {
      const std::optional<std::int64_t> limit = first_number(folder + limit_name);  // none where it reads "max"
      const std::optional<std::int64_t> usage = first_number(folder + usage_name);
      if (!limit || !usage) continue;
      // file pages that nobody uses are given back when memory is needed
      const std::int64_t reclaimable = number_named(folder + "/memory.stat", "inactive_file").value_or(0);
      left = std::min(left, std::max<std::int64_t>(1, *limit - *usage + reclaimable));
    }
  }
  return left;
}

std::int64_t available_memory() {
  const std::optional<std::int64_t> kibibytes = number_named("/proc/meminfo", "MemAvailable");
  if (!kibibytes) return 0;
  return std::min(*kibibytes * 1024, memory_left_by_cgroups());
}

int core_limit() {
  double limit = 0;
  const auto consider = [&limit](double quota, double period) {
    if (quota <= 0 || period <= 0) return;
    limit = limit == 0 ? quota / period : std::min(limit, quota / period);
  };
  for (const std::string& folder : cgroup_folders("cpu")) {
    std::ifstream version_2(folder + "/cpu.max");
    double quota = 0;
    double period = 0;
    if (version_2 >> quota >> period) consider(quota, period);
    const auto quota_1 = first_number(folder + "/cpu.cfs_quota_us");
    const auto period_1 = first_number(folder + "/cpu.cfs_period_us");
    if (quota_1 && period_1) consider(static_cast<double>(*quota_1), static_cast<double>(*period_1));
  }
  return static_cast<int>(limit) + (limit > static_cast<int>(limit) ? 1 : 0);
}

std::vector<int> usable_cores() {
  struct Destroy {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
    void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
  };
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {};
  const std::unique_ptr<hwloc_topology, Destroy> topology(raw);
  if (hwloc_topology_load(topology.get()) != 0) return {};
  const std::unique_ptr<hwloc_bitmap_s, Destroy> bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  std::vector<int> cores;
  // containers may hide the cores behind the processing units: then those count
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, bound.get()) != 0) cores.push_back(static_cast<int>(core->logical_index));
  }
  return cores;
}

}  // namespace

NodeView view_node() {
  return {
      .host = host_name(), .cores = usable_cores(), .core_limit = core_limit(), .available_memory = available_memory()};
}

int threads_for(std::span<const NodeView> views, std::size_t rank) {
  const NodeView& mine = views[rank];
  const auto on_node = [&mine](const NodeView& other) { return other.host == mine.host; };
  const auto sharing = [&](const NodeView& other) { return on_node(other) && other.cores == mine.cores; };
  const auto ranks_sharing = static_cast<int>(std::count_if(views.begin(), views.end(), sharing));
  int threads = static_cast<int>(mine.cores.size()) / ranks_sharing;
  if (mine.core_limit > 0) {
    const auto ranks_on_node = static_cast<int>(std::count_if(views.begin(), views.end(), on_node));
    threads = std::min(threads, mine.core_limit / ranks_on_node);
  }
  return std::max(1, threads);
}

}  // namespace glinpack::app
