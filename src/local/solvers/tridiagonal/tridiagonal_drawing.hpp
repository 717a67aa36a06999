// Tridiagonal systems in textures, solved by drawing (Brodtkorb 2008, section 4.4).
#pragma once

#include <span>

#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {

/// Systems in columns, an equation a texel: the coefficients below, on and above the diagonal, and the right-hand side.
struct TridiagonalTile {
  TridiagonalTile(Device& device, Index systems, Index equations)
      : given(device, equations, 4 * systems, Packing::p1x4),
        work(device, equations, 4 * systems, Packing::p1x4),
        solution(device, equations, systems, Packing::p1x1) {}

  Index systems() const { return given.width(); }
  Index equations() const { return given.height(); }

  TextureMatrix given;
  TextureMatrix work;  // the systems during elimination; green is the pivot after it
  TextureMatrix solution;
};

class TridiagonalPasses {
 public:
  explicit TridiagonalPasses(Device& device);
  /// All equations of some systems, in textures below each other, all but the last of equal height. There is no
  /// pivoting: after a zero pivot elements are not finite.
  void solve(std::span<TridiagonalTile> strip) const;

 private:
  Device& device_;
  gl::Program forward_, backward_, divide_;
};

}  // namespace glinpack::solvers
