// A = L U without pivoting as one would do it today: blocked and right-looking, on the compute shaders of the backend
// gl-compute, block columns on the host. The fifth row beside the methods of Ino et al. 2005 (lu_methods.hpp).
//
// For each block k of 64 columns:
//   1. the block column goes to the host: A_kk = L_kk U_kk column by column, L21 = A21 U_kk^-1 (BLAS trsm)
//   2. and back; U12 = L_kk^-1 A12, A22 <- A22 - L21 U12 on the device
#pragma once

#include <memory>
#include <string>

#include "local/backend.hpp"
#include "local/solvers/lu_methods.hpp"
#include "local/solvers/stages.hpp"

namespace glinpack::solvers {

class LuBlocked {
 public:
  static constexpr Index block = 64;

  /// For matrices of n rows on EGL device `device` in a context of its own, with so many threads of the host.
  /// `shader_directory`: GLSL files that take the place of the embedded ones, where it has any under compute/. Throws
  /// std::runtime_error where the device cannot hold it.
  LuBlocked(int device, int threads, const std::string& shader_directory, Index n);

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
