// Local arithmetic by OpenBLAS, or the BLAS of GLINPACK_BLAS: the fast CPU backend, and the panel arithmetic of every
// backend with panels on the host. This folder is the only user of cblas.h and LAPACKE.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "host/host_memory.hpp"
#include "openblas/thread_tournament.hpp"

namespace glinpack {

/// Panels through getrf, trsm and gemm. BLAS's number of threads is global to the process: the last caller's
/// `threads` holds. Operations throw std::runtime_error if an extent exceeds BLAS's 32-bit integers.
template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_openblas_panel_arithmetic(int threads, TournamentShape shape = {});

/// Matrices in host memory, the update by gemm and U12's solve by trsm. Uses options.threads alone.
template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline);

inline constexpr BackendRecord openblas_record{
    .name = "openblas",
    .make_single = make_openblas_backend<float>,
    .make_double = make_openblas_backend<double>,
    .automatic = true,
    // within 2 per cent of the fastest at N = 4000 and 8000, within 7 at 2000 (results/small-box/logs.md block-sizes)
    .block_size = [](Precision, Index, const BackendValues&) -> Index { return 128; },
    .matrix_bytes = host_matrix_bytes,
};

}  // namespace glinpack
