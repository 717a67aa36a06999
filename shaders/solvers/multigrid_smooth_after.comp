#version 450 core
// The new z <- z + p(A) d, d = r - A z; on the finest grid r . z of the new z, too. d is computed where it is needed, down
// a column once for the three rows that need it. Variants: multigrid.glsl's; FINEST 0 or 1.

#include "solvers/multigrid.glsl"

layout(std430, binding = 3) readonly restrict buffer Residual { Real r[]; };
layout(std430, binding = 4) readonly restrict buffer Correction { Real z[]; };
layout(std430, binding = 5) writeonly restrict buffer NewCorrection { Real new_z[]; };

/// d; 0 beyond the boundary, where z does not change.
Real d(int row, int column) {
  if (row < 0 || row >= N || column < 0 || column >= N) return Real(0.0);
  int at = AT(row, column);
  return r[at] - (4.0 * z[at] - z[at - ROW_PITCH] - z[at + ROW_PITCH] - z[at - 1] - z[at + 1]);
}

void main() {
  Real sum = Real(0.0);
  for (int block = int(gl_GlobalInvocationID.x); block < BLOCKS; block += INVOCATIONS) {
    int column = COLUMN_OF(block), row = FIRST_ROW_OF(block), end = min(row + BLOCK_ROWS, N);
    Real above = d(row - 1, column), here = d(row, column);
    for (; row < end; ++row) {
      int at = AT(row, column);
      Real below = d(row + 1, column);
      Real value = z[at] + SMOOTHED(here, 4.0 * here - above - below - d(row, column - 1) - d(row, column + 1));
      new_z[at] = value;
      sum += r[at] * value;
      above = here;
      here = below;
    }
  }
#if FINEST
  leave_part(sum);
#endif
}
