#version 450 core
// y(r) = sum over joined diagonals of A(r, (r + shift) mod n) x((r + shift) mod n), a row to an invocation;
// then op z
// (src/local/solvers/banded/banded.hpp). Element r of diagonal d is diagonals[d n + r]: neighbours read neighbours.

layout(local_size_x = 128) in;

#include "solvers/banded_operation.glsl"

layout(std430, binding = 0) readonly restrict buffer Diagonals { float diagonals[]; };
layout(std430, binding = 1) readonly restrict buffer Shifts { int shifts[]; };
layout(std430, binding = 2) readonly restrict buffer X { float x[]; };
layout(std430, binding = 3) writeonly restrict buffer Y { float y[]; };
layout(std430, binding = 4) readonly restrict buffer Z { float z[]; };

layout(location = 0) uniform ivec2 extents;  // n, diagonals

void main() {
  int group = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x);
  int row = group * 128 + int(gl_LocalInvocationIndex);
  if (row >= extents.x) return;
  float sum = 0.0;
  for (int d = 0; d < extents.y; ++d) {
    int column = row + shifts[d];
    column -= column >= extents.x ? extents.x : 0;
    sum = fma(diagonals[d * extents.x + row], x[column], sum);
  }
  y[row] = applied(sum, z[row]);
}
