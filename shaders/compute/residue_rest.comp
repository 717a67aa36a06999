#version 450 core
// C <- C - L U in rows and columns that residues do not represent: those with infinities, NaN, or numbers far from 1.
#include "compute/place.glsl"
#include "compute/residues.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(std430, binding = 1) readonly restrict buffer Rows { int unusable_row; int row_exponents[]; };
layout(std430, binding = 2) readonly restrict buffer Columns { int unusable_column; int column_exponents[]; };
layout(std430, binding = 3) restrict buffer Result { double result[]; };
layout(std430, binding = 4) readonly restrict buffer Left { double left[]; };
layout(std430, binding = 5) readonly restrict buffer Right { double right[]; };

UNIFORMS
UNIFORM(0, ivec4) part;           // of L's and U's columns: the first ones, their numbers
UNIFORM(1, int) depth;
UNIFORM(2, ivec4) result_layout;  // of the part
UNIFORM(3, ivec4) left_layout;
UNIFORM(4, ivec4) right_layout;
END_UNIFORMS

void main() {
  if ((unusable_row | unusable_column) == 0) return;
  int across = (part.w + 15) / 16, tiles = (part.z + 15) / 16 * across;
  for (int tile = int(gl_WorkGroupID.x); tile < tiles; tile += int(gl_NumWorkGroups.x)) {
    ivec2 at = ivec2(tile / across, tile % across) * 16 + ivec2(gl_LocalInvocationID.yx);
    if (at.x >= part.z || at.y >= part.w) continue;
    ivec2 from = part.xy + at;
    if (max(row_exponents[from.x], column_exponents[from.y]) != UNUSABLE) continue;
    double sum = 0;
    for (int k = 0; k < depth; ++k) {
      sum = fma(left[place(left_layout, k, from.x)], right[place(right_layout, k, from.y)], sum);
    }
    result[place(result_layout, at.x, at.y)] -= sum;
  }
}
