#version 450
// y(r) += A(r, (r + shift) mod n) x((r + shift) mod n) for one joined diagonal, the sum being made by blending
// (src/local/solvers/banded/banded.hpp). Element k of a vector is texel (k % width, k / width).

// Variants: OPERATION 0; else the sums `diagonal` become y op z, `x` being z.

#include "solvers/banded_operation.glsl"

layout(binding = 0) uniform sampler2D diagonal;
layout(binding = 1) uniform sampler2D x;
layout(location = 1) uniform ivec4 extents;  // n, width, shift, unused
layout(location = 0) out float result;

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
#if OPERATION
  result = applied(texelFetch(diagonal, at, 0).r, texelFetch(x, at, 0).r);
#else
  int row = at.y * extents.y + at.x;
  int column = row + extents.z;
  column -= column >= extents.x ? extents.x : 0;
  // what lies behind the last row has a diagonal of zeros; its column is kept within the texture
  column = min(column, extents.x - 1);
  result = texelFetch(diagonal, at, 0).r * texelFetch(x, ivec2(column % extents.y, column / extents.y), 0).r;
#endif
}
