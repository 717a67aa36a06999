// The pivot of a step, found on the device.
#pragma once

#include "local/solvers/elimination.hpp"

namespace glinpack::solvers {

/// A texel of the matrix.
struct BlockPivot {
  Index row = 0;
  Index column = 0;
  float norm = 0;  // EliminationSettings::measure; 0: there is none
};

/// A reduction of the candidates in several passes (Brodtkorb 2008, section 4.2): shaders/solvers/pivot.frag.
class PivotSearch {
 public:
  /// For matrices of so many texels a side.
  PivotSearch(Device& device, Index side, const EliminationSettings& settings);

  /// Of the candidates of a step, the texels from (step, step) on: down, or, with full pivoting, down and to the right.
  /// Waits for the device. Throws SingularMatrixError where the largest norm is at most `least`.
  BlockPivot find(const TextureMatrix& matrix, Index step, float least);

 private:
  /// So many candidates from (x, y) on in a texture become fewer in the next; returns how many.
  TextureExtents reduce(const TexelProgram& program, GLuint source, Index x, Index y, TextureExtents candidates,
                        bool downwards);

  Index side_;
  EliminationSettings settings_;
  PingPong candidates_;
  TexelProgram measure_;
  TexelProgram reduce_;
};

}  // namespace glinpack::solvers
