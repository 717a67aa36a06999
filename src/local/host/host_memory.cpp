#include "local/host/host_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <stdexcept>

#include "local/parallel_for.hpp"

namespace glinpack {
namespace {

constexpr std::size_t alignment = 64;
constexpr Index bytes_per_thread = Index{1} << 20;

std::string size_text(std::int64_t bytes) {
  std::ostringstream text;
  text.precision(3);
  text << std::fixed << static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0) << " GiB";
  return text.str();
}

/// The number of bytes behind `key` in /proc/meminfo, 0 where it is not.
std::int64_t meminfo_bytes(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kibibytes = 0;
  std::string rest;
  while (file >> name >> kibibytes) {
    std::getline(file, rest);
    if (name == key) return kibibytes * 1024;
  }
  return 0;
}

/// The smallest memory.max on the way from this process's control group (version 2) to the root.
std::int64_t control_group_limit() {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("0::/", 0) != 0) continue;
    std::filesystem::path group = std::filesystem::path("/sys/fs/cgroup") / line.substr(4);
    for (; group.string().rfind("/sys/fs/cgroup", 0) == 0; group = group.parent_path()) {
      std::int64_t bytes = 0;
      if (std::ifstream(group / "memory.max") >> bytes) limit = std::min(limit, bytes);
    }
  }
  return limit;
}

[[noreturn]] void throw_too_little(std::int64_t bytes) {
  throw std::runtime_error("cannot allocate " + size_text(bytes) + " of host memory: " + size_text(available_memory()) +
                           " are available; use a smaller N or more processes");
}

}  // namespace

void FreeAligned::operator()(void* memory) const { std::free(memory); }

template <class Real>
AlignedArray<Real> allocate_zeroed(Index elements, int threads) {
  constexpr auto element_bytes = static_cast<Index>(sizeof(Real));
  constexpr Index elements_per_line = static_cast<Index>(alignment) / element_bytes;
  const Index lines = (std::max<Index>(elements, 1) + elements_per_line - 1) / elements_per_line;
  const Index bytes = lines * static_cast<Index>(alignment);
  // The system grants more than it has and kills whoever touches it: ask beforehand.
  const std::int64_t available = available_memory();
  if (available > 0 && bytes > available) throw_too_little(bytes);
  AlignedArray<Real> memory(static_cast<Real*>(std::aligned_alloc(alignment, static_cast<std::size_t>(bytes))));
  if (!memory) throw_too_little(bytes);
  parallel_for(threads, lines * elements_per_line, bytes_per_thread / element_bytes,
               [data = memory.get()](Index begin, Index end) { std::fill(data + begin, data + end, Real{0}); });
  return memory;
}

std::int64_t available_memory() {
  const std::int64_t available = meminfo_bytes("MemAvailable:");
  return available == 0 ? 0 : std::min(available, control_group_limit());
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

template <class Real>
Index padded_leading_dimension(Index columns) {
  constexpr Index step = 16;
  constexpr Index page = 4096 / static_cast<Index>(sizeof(Real));
  if (columns <= step) return std::max<Index>(1, columns);
  const Index padded = (columns + step - 1) / step * step;
  return padded % page == 0 ? padded + step : padded;
}

template AlignedArray<float> allocate_zeroed(Index, int);
template AlignedArray<double> allocate_zeroed(Index, int);
template Index padded_leading_dimension<float>(Index);
template Index padded_leading_dimension<double>(Index);

}  // namespace glinpack
