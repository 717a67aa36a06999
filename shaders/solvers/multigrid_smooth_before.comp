#version 450 core
// z <- p(A) r. Variants: multigrid.glsl's.

#include "solvers/multigrid.glsl"

layout(std430, binding = 3) readonly restrict buffer Residual { Real r[]; };
layout(std430, binding = 4) writeonly restrict buffer Correction { Real z[]; };

void main() {
  for (int block = int(gl_GlobalInvocationID.x); block < BLOCKS; block += INVOCATIONS) {
    int column = COLUMN_OF(block), row = FIRST_ROW_OF(block), end = min(row + BLOCK_ROWS, N), at = AT(row, column);
    Real above = r[at - ROW_PITCH], here = r[at];
    for (; row < end; ++row, at += ROW_PITCH) {
      Real below = r[at + ROW_PITCH];
      z[at] = SMOOTHED(here, 4.0 * here - above - below - r[at - 1] - r[at + 1]);
      above = here;
      here = below;
    }
  }
}
