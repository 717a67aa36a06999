// A = L U without pivoting, blocked and right-looking: block columns on the host, the rest by the compute shaders of
// the backend gl-compute. A modern baseline for the methods of Ino et al. 2005 (lu_methods.hpp).
//
// For each block k of 64 columns:
//   1. the block column goes to the host: A_kk = L_kk U_kk column by column, L21 = A21 U_kk^-1 (BLAS trsm)
//   2. and back; U12 = L_kk^-1 A12, A22 <- A22 - L21 U12 on the device
#pragma once

#include <string>

#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::solvers {

inline constexpr Index unpivoted_block = 64;

/// The factors of A go to system.factors; all in the step compute, on a clock of its own. On EGL device `device` in a
/// context of its own, with `threads` host threads. `shader_directory`: GLSL files that replace the embedded ones, if
/// it has any under compute/. Throws std::runtime_error if the device cannot hold the matrix.
Steps make_unpivoted_lu(int device, int threads, const std::string& shader_directory, const DenseSystem<float>& system,
                        LuDivision division = LuDivision::quotient);

}  // namespace glinpack::solvers
