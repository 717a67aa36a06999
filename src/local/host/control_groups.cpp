#include "local/host/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace glinpack {
namespace {

constexpr const char* cgroup_root = "/sys/fs/cgroup";

std::optional<std::int64_t> first_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
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

}  // namespace

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

std::optional<std::int64_t> memory_left_by_control_groups() {
  std::optional<std::int64_t> left;
  for (const std::string& folder : cgroup_folders("memory")) {
    for (const auto& [limit_name, usage_name] :
         {std::pair{"/memory.max", "/memory.current"}, std::pair{"/memory.limit_in_bytes", "/memory.usage_in_bytes"}}) {
      const std::optional<std::int64_t> limit = first_number(folder + limit_name);  // none where it reads "max"
      const std::optional<std::int64_t> usage = first_number(folder + usage_name);
      if (!limit || !usage) continue;
      // file pages that nobody uses are given back when memory is needed
      const std::int64_t reclaimable = number_named(folder + "/memory.stat", "inactive_file").value_or(0);
      const std::int64_t here = std::max<std::int64_t>(1, *limit - *usage + reclaimable);
      left = left ? std::min(*left, here) : here;
    }
  }
  return left;
}

int processor_limit_of_control_groups() {
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

}  // namespace glinpack
