// Local arithmetic by OpenBLAS: the CPU backend that is meant to be fast, and the panel arithmetic of every backend
// whose panels are factorised on the host. This folder is the only user of cblas.h and LAPACKE.
#pragma once

#include <memory>
#include <string>

#include "local/backend.hpp"
#include "local/make_backend.hpp"
#include "local/openblas/tournament.hpp"

namespace glinpack {

/// Panels through getrf, trsm, gemm. OpenBLAS's threads are one setting of the process: the last caller's `threads`
/// holds. Operations throw std::runtime_error where an extent exceeds OpenBLAS's 32-bit integers.
template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_openblas_panel_arithmetic(int threads, TournamentShape shape = {});

/// Matrices in host memory, reduce and normalize through gemm and trsm. Uses options.threads alone.
template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline);

/// The kernels that OpenBLAS chose for this processor when it was loaded: "SkylakeX", "Haswell", ...
std::string openblas_kernels();

/// "OpenBLAS 0.3.21 ..." as the library describes itself.
std::string openblas_version();

}  // namespace glinpack
