#version 450 core
// Computes the factor that solve_u12.comp multiplies by from a unit lower triangular L, given as L^T, in blocks of
// 64 x 64. Diagonal blocks become (I - L_ii^-1)^T; blocks to their right are copied. Only L^T right of its diagonal is
// read. One work group a block.
//
// The inverse of a block comes from the inverses of its two halves, with W = L_ii^T:
//   | W11  W12 |^-1     | W11^-1  -W11^-1 W12 W22^-1 |
//   |      W22 |     =  |          W22^-1            |
// Halves start at a single row and double; all of one size are computed at once. The zeros below the diagonal hold
// W12 W22^-1 meanwhile. Source: MAGMA's strtri_diag, which starts with halves of 16.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#define SIDE 64
#define THREADS 1024

layout(local_size_x = THREADS) in;

// May be the same matrix.
layout(std430, binding = 0) readonly buffer Triangle { Real triangle[]; };
layout(std430, binding = 1) writeonly buffer Result { Real result[]; };  // leading dimension RESULT_LEADING

UNIFORMS
UNIFORM(0, int) rows;
UNIFORM(1, ivec4) triangle_layout;
END_UNIFORMS

shared Real block[SIDE * SIDE];

#define AT(row, column) block[(row) * SIDE + (column)]

void main() {
  int thread = int(gl_LocalInvocationIndex);
  int first_row = int(gl_WorkGroupID.y) * SIDE, first_column = int(gl_WorkGroupID.x) * SIDE;
  if (first_column < first_row) return;
  bool diagonal = first_column == first_row;

  for (int e = thread; e < SIDE * SIDE; e += THREADS) {
    int i = e / SIDE, j = e % SIDE;
    Real value = Real(diagonal && i == j ? 1 : 0);
    if (first_column + j < rows && first_row + i < first_column + j) {
      value = triangle[place(triangle_layout, first_row + i, first_column + j)];
    }
    block[e] = value;
  }

  if (diagonal) {
    for (int half_side = 1; half_side < SIDE; half_side *= 2) {
      int elements = SIDE / 2 * half_side;  // of all W12 of this size
      barrier();
      for (int e = thread; e < elements; e += THREADS) {
        int i = e / half_side % half_side, j = e % half_side;
        int one = e / (half_side * half_side) * 2 * half_side, two = one + half_side;
        Real sum = AT(one + i, two + j);
        for (int k = 0; k < j; ++k) sum = fma(AT(one + i, two + k), AT(two + k, two + j), sum);
        AT(two + i, one + j) = sum;
      }
      barrier();
      for (int e = thread; e < elements; e += THREADS) {
        int i = e / half_side % half_side, j = e % half_side;
        int one = e / (half_side * half_side) * 2 * half_side, two = one + half_side;
        Real sum = AT(two + i, one + j);
        for (int k = i + 1; k < half_side; ++k) sum = fma(AT(one + i, one + k), AT(two + k, one + j), sum);
        AT(one + i, two + j) = -sum;
      }
    }
    barrier();
  }

  for (int e = thread; e < SIDE * SIDE; e += THREADS) {
    int i = e / SIDE, j = e % SIDE;
    Real value = block[e];
    if (diagonal) value = j > i ? -value : Real(0);
    result[(first_row + i) * RESULT_LEADING + first_column + j] = value;
  }
}
