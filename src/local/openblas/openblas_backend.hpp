// Local arithmetic by OpenBLAS: the fast CPU backend, and the panel arithmetic of every backend with panels on the
// host. This folder is the only user of cblas.h and LAPACKE.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "openblas/thread_tournament.hpp"

namespace glinpack {

/// Panels through getrf, trsm and gemm. OpenBLAS's number of threads is global to the process: the last caller's
/// `threads` holds. Operations throw std::runtime_error if an extent exceeds OpenBLAS's 32-bit integers.
template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_openblas_panel_arithmetic(int threads, TournamentShape shape = {});

/// Matrices in host memory, reduce and normalize through gemm and trsm. Uses options.threads alone.
template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline);

inline constexpr BackendRecord openblas_record{
    .name = "openblas",
    .make_single = make_openblas_backend<float>,
    .make_double = make_openblas_backend<double>,
    .automatic = true,
    // within 2 per cent of the fastest at N = 4000 and 8000, within 7 at 2000 (results/small-box/block-sizes.txt)
    .block_size = [](Precision, Index) -> Index { return 128; },
};

/// The kernels that OpenBLAS chose for this processor when it was loaded: "SkylakeX", "Haswell", ...
std::string openblas_kernels();

/// "OpenBLAS 0.3.21 ..." as the library describes itself.
std::string openblas_version();

/// The processor's instruction sets among those that OpenBLAS has kernels for.
struct ProcessorFeatures {
  bool avx2_fma = false;
  bool avx512 = false;  // f, dq, bw, vl, cd: needed by the SkylakeX kernels
};

/// Of the processor that this runs on.
ProcessorFeatures processor_features();

/// The OPENBLAS_CORETYPE that suits the processor better than the kernels chosen; nothing when they are as good as any
/// that OpenBLAS has, or unknown.
std::optional<std::string> better_kernels(std::string_view chosen, const ProcessorFeatures& features);

/// The same for this process: nothing when the user has set OPENBLAS_CORETYPE.
std::optional<std::string> better_kernels();

}  // namespace glinpack
