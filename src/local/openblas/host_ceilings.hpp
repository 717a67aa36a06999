// Peak rates of the host: the reference for backends that compute on the host, and for panels.
#pragma once

#include <cstdint>
#include <string>

#include "base/matrix_view.hpp"
#include "base/measuring.hpp"
#include "base/precision.hpp"

namespace glinpack {

struct HostCeilings {
  std::string processor;
  std::string blas;     // "OpenBLAS 0.3.21"
  std::string kernels;  // "SkylakeX"
  int threads = 1;
  Measured gemm_single;  // flops a second of OpenBLAS's C <- C - A B, square
  Measured gemm_double;
  Index gemm_single_n = 0;  // order of its matrices
  Index gemm_double_n = 0;
  Measured copy;  // bytes a second of memory to memory by all threads; bytes read and bytes written both count
  std::int64_t copy_bytes = 0;  // copied at a time
};

/// Measures with `threads` threads, also for OpenBLAS, which keeps that number. Takes about four times options.seconds.
/// Needs the memory of three matrices of order 4096 or two copies of twice the last cache at most. Throws
/// std::runtime_error if memory is insufficient, or if a product or a copy is wrong.
HostCeilings measure_host_ceilings(int threads, const MeasuringOptions& options);

/// Measures only the GEMM of factors of this precision, in a quarter of the time: flops a second.
Measured measure_host_gemm(Precision precision, int threads, const MeasuringOptions& options);

/// Measures only `copy`: bytes per second.
Measured measure_host_copy(int threads, const MeasuringOptions& options);

}  // namespace glinpack
