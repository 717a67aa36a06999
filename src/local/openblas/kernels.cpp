#include "local/openblas/kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "local/openblas/openblas_backend.hpp"

namespace glinpack {

namespace {

// Kernels of OpenBLAS for x86-64 by the widest vectors that they use; others are left alone.
constexpr std::array<std::string_view, 3> with_avx2{"Haswell", "Zen", "Excavator"};
constexpr std::array<std::string_view, 16> older{"Prescott",  "Core2",       "Penryn",     "Dunnington",
                                                 "Nehalem",   "Sandybridge", "SandyBridge", "Atom",
                                                 "Athlon",    "Opteron",     "Opteron_SSE3", "Barcelona",
                                                 "Bobcat",    "Bulldozer",   "Piledriver",  "Steamroller"};

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& names, std::string_view name) {
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
#endif
  return features;
}

std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features) {
  const bool is_avx2 = contains(with_avx2, chosen);
  if (!is_avx2 && !contains(older, chosen)) return std::nullopt;
  // AMD's Zen kernels were tuned for the processors that have them: left alone
  if (features.avx512 && chosen != "Zen") return "SkylakeX";
  if (features.avx2_fma && !is_avx2) return "Haswell";
  return std::nullopt;
}

std::optional<std::string> better_kernels() {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return std::nullopt;
  return better_kernels(openblas_kernels(), processor_features());
}

}  // namespace glinpack
