// A = L U without pivoting, blocked and right-looking: block columns on the host, the rest by the compute shaders of
// the backend gl-compute. A modern baseline for the methods of Ino et al. 2005 (lu_methods.hpp).
//
// For each block k of 64 columns:
//   1. the block column goes to the host: A_kk = L_kk U_kk column by column, L21 = A21 U_kk^-1 (BLAS trsm)
//   2. and back; U12 = L_kk^-1 A12, A22 <- A22 - L21 U12 on the device
#pragma once

#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "solvers/device/device.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::solvers {

class LuUnpivoted {
 public:
  static constexpr Index block = 64;

  /// For matrices of n rows on EGL device `device` in a context of its own, with `threads` host threads.
  /// `shader_directory`: GLSL files that replace the embedded ones, if it has any under compute/. Throws
  /// std::runtime_error if the device cannot hold the matrix.
  LuUnpivoted(int device, int threads, const std::string& shader_directory, Index n);

  StageClock& clock() { return clock_; }
  /// All stages on clock(). Throws SingularMatrixError at the first pivot that is too small.
  void factorize(RowMajorView<const float> a, RowMajorView<float> factors);

 private:
  void step(Index k);
  void factorize_panel(ColumnMajorView<float> panel, Index k);

  Index n_;
  Timeline timeline_;
  StageClock clock_;
  std::unique_ptr<Backend<float>> backend_;
  std::unique_ptr<DeviceMatrix<float>> matrix_;
  std::unique_ptr<DeviceMatrix<float>> panel_;  // transposed: block x n
  std::unique_ptr<HostBuffer<float>> host_panel_;
  std::unique_ptr<HostBuffer<float>> host_matrix_;
  double least_ = 0;
};

}  // namespace glinpack::solvers
