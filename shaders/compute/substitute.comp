#version 450 core
// y <- y - A x. x and y may be different elements of a matrix. A work group multiplies 2 ROWS rows by x, CHUNK elements
// of it at a time in shared memory: elements of a column are far from each other, and all rows need them.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#define LANES 32  // invocations to a row
#define ROWS 8
#define THREADS (LANES * ROWS)
#define CHUNK 512

layout(local_size_x = LANES, local_size_y = ROWS) in;

layout(std430, binding = 0) readonly restrict buffer Matrix { Real matrix[]; };
layout(std430, binding = 1) readonly buffer Factor { Real factor[]; };
layout(std430, binding = 2) buffer Result { Real result[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;  // rows, columns
UNIFORM(1, ivec4) matrix_layout;
UNIFORM(2, ivec4) factor_layout;
UNIFORM(3, ivec4) result_layout;
END_UNIFORMS

shared Real x[CHUNK];
shared Real partial[2 * ROWS * (LANES + 1)];  // by rows a bank apart

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
    for (int k = lane; k < count; k += LANES) {
      sum_a = fma(matrix[place(matrix_layout, row_a, begin + k)], x[k], sum_a);
      sum_b = fma(matrix[place(matrix_layout, row_b, begin + k)], x[k], sum_b);
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
