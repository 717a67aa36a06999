#version 450 core
// z <- z + P e. Variants: multigrid.glsl's.

#include "solvers/multigrid.glsl"

layout(std430, binding = 3) readonly restrict buffer NextCorrection { Real e[]; };
layout(std430, binding = 4) restrict buffer Correction { Real z[]; };

/// The point of the next grid before point i, and the share of the one behind.
int place(int i, out Real of_right) {
  int scaled = (i + 1) * (NEXT_N + 1), left = scaled / (N + 1);
  of_right = Real(scaled - left * (N + 1)) / Real(N + 1);
  return left - 1;
}

void main() {
  Real divisor = Real(next_grid.z);
  for (int block = int(gl_GlobalInvocationID.x); block < BLOCKS; block += INVOCATIONS) {
    int column = COLUMN_OF(block), row = FIRST_ROW_OF(block), end = min(row + BLOCK_ROWS, N);
    Real of_right, of_below;
    int next_column = place(column, of_right);
    for (; row < end; ++row) {
      int at = AT_NEXT(place(row, of_below), next_column), below = at + next_grid.y;
      Real upper = (1.0 - of_right) * e[at] + of_right * e[at + 1];
      Real lower = (1.0 - of_right) * e[below] + of_right * e[below + 1];
      z[AT(row, column)] += ((1.0 - of_below) * upper + of_below * lower) / divisor;
    }
  }
}
