#version 450 core
// y <- y - A x, a work group for each row of A.
#include "compute/place.glsl"
#include "compute/precision.glsl"

#define WIDTH 64

layout(local_size_x = WIDTH) in;

layout(std430, binding = 0) readonly restrict buffer Matrix { Real matrix[]; };
layout(std430, binding = 1) readonly restrict buffer Factor { Real factor[]; };
layout(std430, binding = 2) restrict buffer Result { Real result[]; };

layout(location = 0) uniform int columns;
layout(location = 1) uniform ivec4 matrix_layout;
layout(location = 2) uniform ivec4 factor_layout;
layout(location = 3) uniform ivec4 result_layout;

shared Real partial[WIDTH];

void main() {
  int row = int(gl_WorkGroupID.x);
  int x = int(gl_LocalInvocationID.x);
  Real sum = Real(0);
  for (int k = x; k < columns; k += WIDTH) {
    sum = fma(matrix[place(matrix_layout, row, k)], factor[place(factor_layout, k, 0)], sum);
  }
  partial[x] = sum;
  for (int half_width = WIDTH / 2; half_width > 0; half_width /= 2) {
    barrier();
    if (x < half_width) partial[x] += partial[x + half_width];
  }
  if (x == 0) result[place(result_layout, row, 0)] -= partial[0];
}
