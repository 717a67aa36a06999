#version 450 core
// to <- from^T by tiles of 32 x 32, transposed in shared memory so that reads and writes are both by rows. Consecutive
// work groups walk along the shorter side: they complete a few contiguous rows of a panel before the next rows.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 32, local_size_y = 8) in;

layout(std430, binding = 0) readonly restrict buffer From { Real from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { Real to[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;      // rows, columns of `from`
UNIFORM(1, ivec4) from_layout;
UNIFORM(2, ivec4) to_layout;
UNIFORM(3, int) rows_first;     // consecutive work groups go down rows of `from`, not along columns
UNIFORM(4, int) zero_up_to;     // zeros instead of elements (i, j) of `to` with i - j up to it
END_UNIFORMS

shared Real tile[32 * 33];  // a column more than the tile has, so that its columns fall into different banks

void main() {
  int x = int(gl_LocalInvocationID.x);
  ivec2 group = rows_first != 0 ? ivec2(gl_WorkGroupID.xy) : ivec2(gl_WorkGroupID.yx);
  int first_row = group.x * 32;
  int first_column = group.y * 32;
  for (int y = int(gl_LocalInvocationID.y); y < 32; y += 8) {
    if (first_row + y < extents.x && first_column + x < extents.y) {
      tile[y * 33 + x] = from[place(from_layout, first_row + y, first_column + x)];
    }
  }
  barrier();
  for (int y = int(gl_LocalInvocationID.y); y < 32; y += 8) {
    if (first_column + y < extents.y && first_row + x < extents.x) {
      bool is_zero = first_column + y - (first_row + x) <= zero_up_to;
      to[place(to_layout, first_column + y, first_row + x)] = is_zero ? Real(0) : tile[x * 33 + y];
    }
  }
}
