#version 450 core
// A <- L^-1 A by forward substitution, for a unit lower triangular L of at most 32 rows given as L^T: the base case of
// the recursive normalize. An invocation owns a column, a work group 64 of them.
#include "compute/place.glsl"
#include "compute/precision.glsl"

#define LARGEST 32
#define WIDTH 64

layout(local_size_x = WIDTH) in;

layout(std430, binding = 0) readonly restrict buffer Triangle { Real triangle[]; };
layout(std430, binding = 1) restrict buffer Solution { Real solution[]; };

layout(location = 0) uniform ivec2 extents;          // rows, columns of A
layout(location = 1) uniform ivec4 triangle_layout;
layout(location = 2) uniform ivec4 solution_layout;

shared Real multiplier[LARGEST * LARGEST];  // L^T
shared Real column_tile[LARGEST * WIDTH];

void main() {
  int rows = extents.x;
  int x = int(gl_LocalInvocationID.x);
  int column = int(gl_WorkGroupID.x) * WIDTH + x;
  for (int e = x; e < LARGEST * LARGEST; e += WIDTH) {
    int k = e / LARGEST, i = e % LARGEST;
    if (i < rows && k < i) multiplier[e] = triangle[place(triangle_layout, k, i)];
  }
  barrier();
  if (column >= extents.y) return;

  int at = place(solution_layout, 0, column);
  for (int i = 0; i < rows; ++i) column_tile[i * WIDTH + x] = solution[at + i * solution_layout.y];
  for (int i = 0; i < rows; ++i) {
    Real value = column_tile[i * WIDTH + x];
    for (int k = 0; k < i; ++k) value = fma(-multiplier[k * LARGEST + i], column_tile[k * WIDTH + x], value);
    column_tile[i * WIDTH + x] = value;
    solution[at + i * solution_layout.y] = value;
  }
}
