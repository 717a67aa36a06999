// P A = L U on a device by Doolittle's method, L and U packed into one texture (Brodtkorb 2008, section 4.3), and the
// solution of A X = B with them.
//
// A step takes two columns (with EliminationVariant::plain one) and
//   1. finds the pivot (elimination.hpp), whose row the host notes for P;
//   2. draws two rows of U from the pivot row, the upper one as it is, the lower one reduced within the block, and the
//      top row at the position of the pivot row, also to the left of the pivot, which exchanges the rows of L;
//   3. draws the multipliers below, L = R U_kk^-1, and reduces what is right of them, R - L U.
// Everything is in one texture, except the two rows that are exchanged. Fragments read their own texel, and texels that
// no other fragment writes.
#pragma once

#include <vector>

#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {

class PluPacked {
 public:
  /// For matrices of n rows and `right_hand_sides` right-hand sides, which may be 0. settings.pivoting must be
  /// partial, or std::invalid_argument is thrown. Throws std::runtime_error as obstacle() says, and if the device
  /// fails. `device` must outlive it.
  PluPacked(Device& device, Index n, Index right_hand_sides, const EliminationSettings& settings = {});

  /// Why the device cannot hold it, with the limit; empty if no reason is known.
  static std::string obstacle(const DeviceDescription& device, Index n, Index right_hand_sides,
                              const EliminationSettings& settings);

  /// All of it: X, n x right_hand_sides. Throws as the steps do.
  void solve(RowMajorView<const float> a, RowMajorView<const float> b, RowMajorView<float> x);

  /// Stages pack and upload of the device's clock. Throws std::invalid_argument as padded() does.
  void load(RowMajorView<const float> a);
  /// Stage compute: once after each load. Throws SingularMatrixError.
  void factorize();

  /// Right-hand sides, as often as wanted after factorize(): load_right (pack, upload), substitute (compute), store
  /// (download, unpack). B and X have n rows and right_hand_sides columns.
  void load_right(RowMajorView<const float> b);
  void substitute();
  void store(RowMajorView<float> x);

  /// Row i of P A is row row_order()[i] of A.
  const std::vector<Index>& row_order() const { return row_order_; }
  /// n x n: U on and above the diagonal, L below. Stages download and unpack.
  void store_factors(RowMajorView<float> factors) const;

 private:
  void step(Index k);
  void substitute_forward();
  void substitute_backward();
  void check_right(Index rows, Index columns) const;

  Device& device_;
  Index n_;
  Index right_hand_sides_;
  EliminationSettings settings_;
  Index side_;  // of A, in texels
  float least_pivot_ = 0;
  std::vector<Index> row_order_;
  TextureMatrix factors_;
  TextureMatrix exchanged_;  // staging for two rows of texels
  TextureMatrix right_;
  PivotSearch search_;
  std::vector<TexelProgram> programs_;  // by STEP of shaders/solvers/plu_packed.frag
};

}  // namespace glinpack::solvers
