#include "host/host_memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/threads.hpp"

namespace glinpack {

namespace {

constexpr const char* cgroup_root = "/sys/fs/cgroup";

std::optional<std::int64_t> first_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// The folders of this process's cgroup and of its ancestors, whose limits also apply: of version 2, and of one
// controller of version 1.
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
      const std::optional<std::int64_t> limit = first_number(folder + limit_name);  // none if it is "max"
      const std::optional<std::int64_t> usage = first_number(folder + usage_name);
      if (!limit || !usage) continue;
      // the kernel reclaims inactive file pages if memory is needed
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

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr Index bytes_per_thread = Index{1} << 20;

std::string size_text(std::int64_t bytes) {
  std::ostringstream text;
  text.precision(3);
  text << std::fixed << static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0) << " GiB";
  return text.str();
}

/// Whether at least a MiB was allocated since the last check, which reads files of the system and takes 0.1 ms.
bool is_to_check(std::int64_t bytes) {
  constexpr std::int64_t unchecked = std::int64_t{1} << 20;
  static std::atomic<std::int64_t> since_check{unchecked};
  if (bytes < unchecked && since_check.fetch_add(bytes) + bytes < unchecked) return false;
  since_check = 0;
  return true;
}

[[noreturn]] void throw_too_little(std::int64_t bytes) {
  throw std::runtime_error("cannot allocate " + size_text(bytes) + " of host memory: " + size_text(available_memory()) +
                           " are available; use a smaller N or more processes");
}

/// `elements`, at least one, rounded up to whole cache lines.
template <class Real>
Index whole_lines(Index elements) {
  constexpr Index line = static_cast<Index>(alignment / sizeof(Real));
  return round_up(std::max<Index>(elements, 1), line);
}

// Large arrays use huge pages if the system has them. The rows of a block column are pages apart: with pages of 4 KiB,
// each row of each tile would miss the TLB. Null if there is too little memory.
void* allocate_aligned(std::size_t bytes) {
  if (bytes < 2 * huge_page) return std::aligned_alloc(alignment, bytes);
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = std::aligned_alloc(huge_page, whole);
  if (memory != nullptr) madvise(memory, whole, MADV_HUGEPAGE);  // only advice
  return memory;
}

}  // namespace

void FreeAligned::operator()(void* memory) const { std::free(memory); }

template <class Real>
AlignedArray<Real> allocate_unset(Index elements) {
  const Index bytes = whole_lines<Real>(elements) * static_cast<Index>(sizeof(Real));
  // Linux overcommits memory and kills the process that touches too much: check first.
  if (is_to_check(bytes)) {
    const std::int64_t available = available_memory();
    if (available > 0 && bytes > available) throw_too_little(bytes);
  }
  AlignedArray<Real> memory(static_cast<Real*>(allocate_aligned(static_cast<std::size_t>(bytes))));
  if (!memory) throw_too_little(bytes);
  return memory;
}

template <class Real>
AlignedArray<Real> allocate_zeroed(Index elements, int threads) {
  AlignedArray<Real> memory = allocate_unset<Real>(elements);
  parallel_for(threads, whole_lines<Real>(elements), bytes_per_thread / static_cast<Index>(sizeof(Real)),
               [data = memory.get()](Index begin, Index end) { std::fill(data + begin, data + end, Real{0}); });
  return memory;
}

std::int64_t bytes_of_host_memory(const std::string& name) {
  return number_named("/proc/meminfo", name).value_or(0) * 1024;
}

std::int64_t available_memory() {
  const std::optional<std::int64_t> kibibytes = number_named("/proc/meminfo", "MemAvailable");
  if (!kibibytes) return 0;
  const std::int64_t available = *kibibytes * 1024;
  return std::min(available, memory_left_by_control_groups().value_or(available));
}

std::int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  const std::int64_t used = number_named("/proc/self/status", "VmSize").value_or(0) * 1024;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(limit.rlim_cur) - used);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

namespace {

Index padded(Index columns, std::int64_t element_bytes) {
  constexpr Index step = 16;
  const Index page = 4096 / element_bytes;
  if (columns <= step) return std::max<Index>(1, columns);
  const Index padded = round_up(columns, step);
  return padded % page == 0 ? padded + step : padded;
}

}  // namespace

template <class Real>
Index padded_leading_dimension(Index columns) {
  return padded(columns, sizeof(Real));
}

std::int64_t host_matrix_bytes(Index rows, Index columns, std::int64_t element_bytes) {
  return rows * padded(columns, element_bytes) * element_bytes;
}

std::optional<ThreadLimit> thread_limit_of_environment() {
  constexpr int max_threads = 4096;
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* const value = std::getenv(variable);
    const int threads = value == nullptr ? 0 : std::atoi(value);
    if (threads > 0) return ThreadLimit{variable, std::min(threads, max_threads)};
  }
  return std::nullopt;
}

template AlignedArray<float> allocate_unset(Index);
template AlignedArray<double> allocate_unset(Index);
template AlignedArray<float> allocate_zeroed(Index, int);
template AlignedArray<double> allocate_zeroed(Index, int);
template Index padded_leading_dimension<float>(Index);
template Index padded_leading_dimension<double>(Index);

}  // namespace glinpack
