#version 450 core
// Moves rows of a region in place. A chain of moves is
//   r[0] -> r[1] -> ... -> r[k],    moves[i] = (r[i], r[i + 1])
// and is closed if r[k] = r[0]. No two chains share a row. Each element is read and written once; with a staging buffer
// it would be read and written twice. A work group follows one chain in 512 columns. It reads the next row before it
// writes the last, so that two rows of loads are in flight. Consecutive work groups take the same columns, so that they
// share memory pages (copy.comp).
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) restrict buffer Matrix { Real a[]; };
layout(std430, binding = 1) readonly restrict buffer Moves { ivec2 moves[]; };
layout(std430, binding = 2) readonly restrict buffer Chains { ivec2 chains[]; };  // the first move, how many

UNIFORMS
UNIFORM(0, int) columns;
UNIFORM(1, ivec4) a_layout;
END_UNIFORMS

void main() {
  ivec2 chain = chains[gl_WorkGroupID.x];
  int column = int(gl_WorkGroupID.y) * 512 + int(gl_LocalInvocationID.x);
  // four columns of an invocation, named: an array would be put into memory. Those beyond the region are read as its
  // last one, and not written.
  bool has_0 = column < columns, has_1 = column + 128 < columns, has_2 = column + 256 < columns,
       has_3 = column + 384 < columns;
  int last = columns - 1;
  int c_0 = place(a_layout, 0, min(column, last)), c_1 = place(a_layout, 0, min(column + 128, last)),
      c_2 = place(a_layout, 0, min(column + 256, last)), c_3 = place(a_layout, 0, min(column + 384, last));

  int row = moves[chain.x].x * a_layout.y;
  Real carried_0 = a[row + c_0], carried_1 = a[row + c_1], carried_2 = a[row + c_2], carried_3 = a[row + c_3];
  for (int i = 0; i < chain.y; ++i) {
    row = moves[chain.x + i].y * a_layout.y;
    Real next_0 = carried_0, next_1 = carried_1, next_2 = carried_2, next_3 = carried_3;
    if (i + 1 < chain.y) {  // what the last row held is moved already, or no longer wanted
      next_0 = a[row + c_0];
      next_1 = a[row + c_1];
      next_2 = a[row + c_2];
      next_3 = a[row + c_3];
    }
    if (has_0) a[row + c_0] = carried_0;
    if (has_1) a[row + c_1] = carried_1;
    if (has_2) a[row + c_2] = carried_2;
    if (has_3) a[row + c_3] = carried_3;
    carried_0 = next_0;
    carried_1 = next_1;
    carried_2 = next_2;
    carried_3 = next_3;
  }
}
