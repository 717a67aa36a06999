// OpenBLAS 0.3.21 picks slow kernels on processors newer than itself ("Haswell" on Sapphire Rapids, "Prescott" where it
// knows nothing): half the speed and less. It reads OPENBLAS_CORETYPE when it is loaded, so that a program that wants
// others must set it and execute itself again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace glinpack {

/// What of the instruction sets that OpenBLAS has kernels for a processor has.
struct ProcessorFeatures {
  bool avx2_fma = false;
  bool avx512 = false;  // f, dq, bw, vl, cd: what the SkylakeX kernels need
};

/// Of the processor that this runs on.
ProcessorFeatures processor_features();

/// The OPENBLAS_CORETYPE that suits the processor better than the kernels chosen; nothing when they are as good as any
/// that OpenBLAS has, or unknown.
std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features);

/// The same for this process: nothing when the user has set OPENBLAS_CORETYPE.
std::optional<std::string> better_kernels();

}  // namespace glinpack
