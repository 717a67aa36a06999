// The BLAS that glinpack was built with (GLINPACK_BLAS, cmake/Blas.cmake). What differs between libraries is here.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace glinpack {

/// Threads of each BLAS call: a setting of the process. Without effect for GLINPACK_BLAS=generic.
void set_blas_threads(int threads);

class BlasMemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Has OpenBLAS take its buffers: of `threads` threads, and of `callers` threads that call it at the same time.
/// Otherwise it takes them at the first large product, after memory was counted, and if it cannot, tries for ever.
/// Throws BlasMemoryError if there is too little memory, address space or stack. Other libraries: no effect.
void reserve_blas_buffers(int threads, int callers);

/// "OpenBLAS 0.3.21", "BLIS 0.9.0", ...; "BLAS" for GLINPACK_BLAS=generic.
std::string blas_version();

/// The kernels chosen for this processor when the library was loaded: "SkylakeX", "Haswell", "skx"; empty if the
/// library does not report it.
std::string blas_kernels();

/// The processor's instruction sets among those that OpenBLAS has kernels for.
struct ProcessorFeatures {
  bool avx2_fma = false;
  bool avx512 = false;   // f, dq, bw, vl, cd: needed by the SkylakeX kernels
  bool armv8_1 = false;  // atomic instructions: as of the Neoverse N1
  bool sve = false;      // scalable vectors: as of the Neoverse V1
};

/// The processor that this runs on.
ProcessorFeatures processor_features();

/// The OPENBLAS_CORETYPE that suits the processor better than the kernels that OpenBLAS chose; empty if they are as
/// good as any that OpenBLAS has, or unknown. Other libraries' kernels have other names.
std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features);

/// The same for this process: nothing when the user has set OPENBLAS_CORETYPE.
std::optional<std::string> better_kernels();

}  // namespace glinpack
