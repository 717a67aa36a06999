#version 450 core
// C <- C - L U of one or two rows of C: L given transposed, depth x rows; U depth x columns. U is read once, as fast as
// memory gives it: a work group makes 32 columns, and each of its slices every eighth term of their sums. The tiles of
// update.comp would be nearly empty.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#define COLUMNS 32
#define SLICES 8

layout(local_size_x = COLUMNS, local_size_y = SLICES) in;

layout(std430, binding = 0) readonly restrict buffer Left { Real left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { Real right[]; };
layout(std430, binding = 2) restrict buffer Result { Real result[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;  // rows, columns of C
UNIFORM(1, int) depth;
UNIFORM(2, ivec4) left_layout;  // place.glsl
UNIFORM(3, ivec4) right_layout;
UNIFORM(4, ivec4) result_layout;
END_UNIFORMS

shared Real partial[2 * SLICES * COLUMNS];

void main() {
  int lane = int(gl_LocalInvocationID.x), slice = int(gl_LocalInvocationID.y);
  int column = int(gl_WorkGroupID.x) * COLUMNS + lane;
  int read = min(column, extents.y - 1), second = min(1, extents.x - 1);
  Real sum_a = Real(0), sum_b = Real(0);
  for (int k = slice; k < depth; k += SLICES) {
    Real u = right[place(right_layout, k, read)];
    sum_a = fma(left[place(left_layout, k, 0)], u, sum_a);
    sum_b = fma(left[place(left_layout, k, second)], u, sum_b);
  }
  partial[slice * COLUMNS + lane] = sum_a;
  partial[(SLICES + slice) * COLUMNS + lane] = sum_b;
  barrier();
  int row = slice;
  if (row >= extents.x || column >= extents.y) return;
  Real sum = Real(0);
  for (int k = 0; k < SLICES; ++k) sum += partial[(row * SLICES + k) * COLUMNS + lane];
  result[place(result_layout, row, column)] -= sum;
}
