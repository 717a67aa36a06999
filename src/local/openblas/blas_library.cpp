#include "openblas/blas_library.hpp"

#if defined(GLINPACK_BLAS_openblas)
#include <cblas.h>
#elif defined(GLINPACK_BLAS_blis)
#include <blis.h>
#elif defined(GLINPACK_BLAS_mkl)
#include <mkl.h>
#elif defined(GLINPACK_BLAS_flexiblas)
#include <flexiblas/flexiblas_api.h>
#endif

#include <sys/mman.h>
#include <sys/resource.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/scope_exit.hpp"
#include "base/threads.hpp"

namespace glinpack {

#if defined(GLINPACK_BLAS_openblas)

// OpenBLAS waits for ever for a thread that it could not start. It keeps those that it has started.
void set_blas_threads(int threads) {
  static std::atomic<int> started = openblas_get_num_threads();
  if (threads > started) check_that_threads_start(threads - started);
  started = std::max<int>(started, threads);
  openblas_set_num_threads(threads);
}

// Not in cblas.h, but public in every OpenBLAS (its common.h).
extern "C" void* blas_memory_alloc(int procedure);
extern "C" void blas_memory_free(void* buffer);
extern "C" int blas_server_avail __attribute__((weak));  // not in one built without threads

namespace {

// BUFFER_SIZE in OpenBLAS's common_x86_64.h, and the stack of a thread
constexpr std::size_t bytes_of_buffer = std::size_t{128} << 20, bytes_of_stack = std::size_t{8} << 20;

/// Throws BlasMemoryError unless `count` buffers can be mapped at once, as OpenBLAS maps them.
void check_that_buffers_fit(int count) {
  std::vector<void*> buffers;
  while (static_cast<int>(buffers.size()) < count) {
    void* const buffer =
        mmap(nullptr, bytes_of_buffer + bytes_of_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) break;
    buffers.push_back(buffer);
  }
  for (void* const buffer : buffers) munmap(buffer, bytes_of_buffer + bytes_of_stack);
  const std::size_t found = buffers.size();
  if (static_cast<int>(found) == count) return;
  throw BlasMemoryError("too little memory for OpenBLAS: it takes " + std::to_string(count) +
                        " more buffers of 128 MiB of address space, and " + std::to_string(found) +
                        " fit; raise the limit (ulimit -v), or use fewer threads");
}

/// Throws BlasMemoryError unless this thread's stack can have what OpenBLAS's factorisations take of it.
void check_that_stack_suffices() {
  constexpr rlim_t bytes = rlim_t{4} << 20;
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_cur >= bytes) return;
  const rlim_t allowed = limit.rlim_cur;
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  if (limit.rlim_cur == bytes && setrlimit(RLIMIT_STACK, &limit) == 0) return;
  throw BlasMemoryError("too little stack for OpenBLAS: it takes up to 4 MiB, and the limit is " +
                        std::to_string(allowed >> 10) + " KiB; raise it (ulimit -s 8192)");
}

/// Under a limit of address space, a thread of OpenBLAS may try for ever to take its buffer. OpenBLAS joins its threads
/// at exit, after static objects of libraries that use it.
const ScopeExit join_no_threads_under_a_limit([] {
  rlimit limit{};
  if (&blas_server_avail != nullptr && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    blas_server_avail = 0;
  }
});

}  // namespace

void reserve_blas_buffers(int threads, int callers) {
  check_that_stack_suffices();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static int taken_threads = 0, taken_callers = 0;
  const int more = std::max(0, threads - std::max(1, taken_threads)) + std::max(0, callers - taken_callers);
  if (more == 0) return;
  check_that_buffers_fit(more);
  taken_threads = std::max(threads, taken_threads);
  taken_callers = std::max(callers, taken_callers);
  // a product large enough for all threads
  constexpr int n = 512;
  const std::vector<float> a(n * n);
  std::vector<float> c(n * n);
  set_blas_threads(threads);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, a.data(), n, 0, c.data(), n);
  std::vector<void*> of_callers;
  for (int caller = 0; caller < callers; ++caller) of_callers.push_back(blas_memory_alloc(0));
  for (void* const buffer : of_callers) blas_memory_free(buffer);
}

std::string blas_version() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": name and version are the first two words.
  const std::string configuration = openblas_get_config();
  const std::size_t name_end = configuration.find(' ');
  return name_end == std::string::npos ? configuration : configuration.substr(0, configuration.find(' ', name_end + 1));
}

std::string blas_kernels() { return openblas_get_corename(); }

#elif defined(GLINPACK_BLAS_blis)

void set_blas_threads(int threads) { bli_thread_set_num_threads(threads); }

std::string blas_version() { return std::string("BLIS ") + bli_info_get_version_str(); }

std::string blas_kernels() { return bli_arch_string(bli_arch_query_id()); }

#elif defined(GLINPACK_BLAS_mkl)

void set_blas_threads(int threads) { mkl_set_num_threads(threads); }

std::string blas_version() {
  MKLVersion version;
  mkl_get_version(&version);
  return "MKL " + std::to_string(version.MajorVersion) + "." + std::to_string(version.MinorVersion) + "." +
         std::to_string(version.UpdateVersion);
}

std::string blas_kernels() {
  MKLVersion version;
  mkl_get_version(&version);
  return version.Processor;
}

#elif defined(GLINPACK_BLAS_flexiblas)

void set_blas_threads(int threads) { flexiblas_set_num_threads(threads); }

std::string blas_version() {
  int major = 0, minor = 0, patch = 0;
  flexiblas_get_version(&major, &minor, &patch);
  return "FlexiBLAS " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// the library behind it
std::string blas_kernels() {
  std::array<char, 256> name{};
  return flexiblas_current_backend(name.data(), name.size()) > 0 ? name.data() : "";
}

#else

void set_blas_threads(int /*threads*/) {}

std::string blas_version() { return "BLAS"; }

std::string blas_kernels() { return ""; }

#endif

#if !defined(GLINPACK_BLAS_openblas)
void reserve_blas_buffers(int /*threads*/, int /*callers*/) {}
#endif

namespace {

// OpenBLAS's names of kernels for x86-64, oldest instruction sets first (its driver/others/dynamic.c).
constexpr std::array<std::string_view, 20> before_avx2{
    "Katmai", "Coppermine", "Northwood",   "Prescott",  "Banias",     "Atom",         "Core2",
    "Penryn", "Dunnington", "Nehalem",     "Athlon",    "Opteron",    "Opteron_SSE3", "Barcelona",
    "Bobcat", "Nano",       "Sandybridge", "Bulldozer", "Piledriver", "Steamroller"};
constexpr std::array<std::string_view, 3> with_avx2{"Haswell", "Zen", "Excavator"};

template <std::size_t count>
bool contains(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ProcessorFeatures processor_features() {
  ProcessorFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
#elif defined(__aarch64__)
  const unsigned long capabilities = getauxval(AT_HWCAP);
  features.armv8_1 = (capabilities & HWCAP_ATOMICS) != 0;
  features.sve = (capabilities & HWCAP_SVE) != 0;
#endif
  return features;
}

std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features) {
  const bool below_avx2 = contains(before_avx2, chosen);
  if (features.avx512 && (below_avx2 || contains(with_avx2, chosen))) return "SkylakeX";
  if (features.avx2_fma && below_avx2) return "Haswell";
  // "armv8" is for any processor: OpenBLAS knows the others by their numbers, and newer ones not at all
  if (features.sve && chosen == "armv8") return "NEOVERSEV1";
  if (features.armv8_1 && chosen == "armv8") return "NEOVERSEN1";
  return std::nullopt;
}

std::optional<std::string> better_kernels() {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return std::nullopt;
  return better_kernels(blas_kernels(), processor_features());
}

}  // namespace glinpack
