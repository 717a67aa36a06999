#version 450 core
// y <- y - A x. x and y may be different elements of a matrix. A work group multiplies 2 ROWS rows by x, CHUNK elements
// of it at a time in shared memory: elements of a column are far from each other, and all rows need them.
#include "compute/place.glsl"
#include "compute/precision.glsl"

#define LANES 32  // invocations to a row
#define ROWS 8
#define THREADS (LANES * ROWS)
#define CHUNK 512

layout(local_size_x = LANES, local_size_y = ROWS) in;

layout(std430, binding = 0) readonly restrict buffer Matrix { Real matrix[]; };
layout(std430, binding = 1) readonly buffer Factor { Real factor[]; };
layout(std430, binding = 2) buffer Result { Real result[]; };

layout(location = 0) uniform ivec2 extents;  // rows, columns
layout(location = 1) uniform ivec4 matrix_layout;
layout(location = 2) uniform ivec4 factor_layout;
layout(location = 3) uniform ivec4 result_layout;

shared Real x[CHUNK];
shared Real partial[2 * ROWS * (LANES + 1)];  // by rows a bank apart

#define A(row, k) matrix[place(matrix_layout, row, begin + (k))]

void main() {
  int lane = int(gl_LocalInvocationID.x);
  int own = int(gl_LocalInvocationIndex);
  int first = int(gl_WorkGroupID.x) * 2 * ROWS;
  int a = int(gl_LocalInvocationID.y), b = a + ROWS;
  int last = extents.x - 1;  // read instead of rows beyond it
  int row_a = min(first + a, last), row_b = min(first + b, last);
  Real sum_a = Real(0), sum_b = Real(0);
  for (int begin = 0; begin < extents.y; begin += CHUNK) {
    int count = min(CHUNK, extents.y - begin);
    barrier();
    for (int k = own; k < count; k += THREADS) x[k] = factor[place(factor_layout, begin + k, 0)];
    barrier();
    int k = lane;
    for (; k + 3 * LANES < count; k += 4 * LANES) {  // all loads before the sums: memory has more to do at once
      Real a_0 = A(row_a, k), a_1 = A(row_a, k + LANES), a_2 = A(row_a, k + 2 * LANES), a_3 = A(row_a, k + 3 * LANES);
      Real b_0 = A(row_b, k), b_1 = A(row_b, k + LANES), b_2 = A(row_b, k + 2 * LANES), b_3 = A(row_b, k + 3 * LANES);
      Real x_0 = x[k], x_1 = x[k + LANES], x_2 = x[k + 2 * LANES], x_3 = x[k + 3 * LANES];
      sum_a = fma(a_3, x_3, fma(a_2, x_2, fma(a_1, x_1, fma(a_0, x_0, sum_a))));
      sum_b = fma(b_3, x_3, fma(b_2, x_2, fma(b_1, x_1, fma(b_0, x_0, sum_b))));
    }
    for (; k < count; k += LANES) {
      sum_a = fma(A(row_a, k), x[k], sum_a);
      sum_b = fma(A(row_b, k), x[k], sum_b);
    }
  }
  partial[a * (LANES + 1) + lane] = sum_a;
  partial[b * (LANES + 1) + lane] = sum_b;
  barrier();
  if (own >= 2 * ROWS || first + own > last) return;
  Real sum = Real(0);
  for (int k = 0; k < LANES; ++k) sum += partial[own * (LANES + 1) + k];
  result[place(result_layout, first + own, 0)] -= sum;
}
