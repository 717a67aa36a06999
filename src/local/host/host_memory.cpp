#include "local/host/host_memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>

#include "local/host/control_groups.hpp"
#include "local/parallel_for.hpp"

namespace glinpack {
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

[[noreturn]] void throw_too_little(std::int64_t bytes) {
  throw std::runtime_error("cannot allocate " + size_text(bytes) + " of host memory: " + size_text(available_memory()) +
                           " are available; use a smaller N or more processes");
}

// Large arrays on huge pages, where the system has them: the rows of a block column lie pages apart, and with pages of
// 4 KiB every row of every tile would miss in the translation buffers. Null when there is too little memory.
void* allocate_aligned(std::size_t bytes) {
  if (bytes < 4 * huge_page) return std::aligned_alloc(alignment, bytes);
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = std::aligned_alloc(huge_page, whole);
  if (memory != nullptr) madvise(memory, whole, MADV_HUGEPAGE);  // advice: without it all works the same
  return memory;
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
  AlignedArray<Real> memory(static_cast<Real*>(allocate_aligned(static_cast<std::size_t>(bytes))));
  if (!memory) throw_too_little(bytes);
  parallel_for(threads, lines * elements_per_line, bytes_per_thread / element_bytes,
               [data = memory.get()](Index begin, Index end) { std::fill(data + begin, data + end, Real{0}); });
  return memory;
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
