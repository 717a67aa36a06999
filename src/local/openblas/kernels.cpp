#include "local/openblas/kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "local/openblas/openblas_backend.hpp"

namespace glinpack {
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
#endif
  return features;
}

std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features) {
  const bool below_avx2 = contains(before_avx2, chosen);
  if (features.avx512 && (below_avx2 || contains(with_avx2, chosen))) return "SkylakeX";
  if (features.avx2_fma && below_avx2) return "Haswell";
  return std::nullopt;
}

std::optional<std::string> better_kernels() {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return std::nullopt;
  return better_kernels(openblas_kernels(), processor_features());
}

}  // namespace glinpack
