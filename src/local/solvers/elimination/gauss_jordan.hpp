// A X = B by Gauss-Jordan elimination on a device (Brodtkorb 2008, section 4.2).
//
// [A | B] is in two textures that alternate. A step finds the pivot (elimination.hpp), then
//   1. draws the pivot row, normalized to P^-1 S with pivot P, at the position of the top row;
//   2. draws the top row at the position of the pivot row, eliminated in the same draw;
//   3. eliminates in all other rows, above and below, with the normalized row.
// After the last one the left part would be the identity; what is known to become 0 or 1 is not drawn. X is on the
// right. n^3 + 2 n^2 r operations for r right-hand sides, half as many again as LU needs for A, but half its passes.
#pragma once

#include <memory>
#include <vector>

#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {

class GaussJordan {
 public:
  /// For matrices of n rows and `right_hand_sides` right-hand sides, at least 1 each. Throws std::runtime_error as
  /// obstacle() says, and if the device fails. `device` must outlive it.
  GaussJordan(Device& device, Index n, Index right_hand_sides, const EliminationSettings& settings = {});
  ~GaussJordan();

  /// Why the device cannot hold it, with the limit; empty if no reason is known.
  static std::string obstacle(const DeviceDescription& device, Index n, Index right_hand_sides,
                              const EliminationSettings& settings);

  /// load, compute, store: X, n x right_hand_sides. Throws as these do.
  void solve(RowMajorView<const float> a, RowMajorView<const float> b, RowMajorView<float> x);
  /// The same with the identity at the right; right_hand_sides must be n.
  void invert(RowMajorView<const float> a, RowMajorView<float> inverse);

  /// Stages pack and upload of the device's clock. Throws std::invalid_argument as padded() does.
  void load(RowMajorView<const float> a, RowMajorView<const float> b);
  void load_to_invert(RowMajorView<const float> a);
  /// Stage compute: once after each load. Throws SingularMatrixError.
  void compute();
  /// Stages download and unpack. Throws std::invalid_argument if X is not n x right_hand_sides.
  void store(RowMajorView<float> x);

 private:
  void step(Index k);
  void exchange_rows_of(RowMajorView<float> x) const;

  Device& device_;
  Index n_;
  Index right_hand_sides_;
  EliminationSettings settings_;
  Index side_;  // of A, in texels
  float least_pivot_ = 0;
  std::vector<BlockPivot> pivots_;  // of the steps
  PingPong system_;
  TextureMatrix solution_;
  PivotSearch search_;
  TexelProgram normalize_;
  TexelProgram exchange_;
  TexelProgram eliminate_;
};

}  // namespace glinpack::solvers
