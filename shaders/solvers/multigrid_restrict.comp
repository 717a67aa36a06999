#version 450 core
// r of the next grid <- P^T (r - A z): every point of the next grid gathers from the points that are interpolated from
// it. What they share is computed more than once, from caches. Variants: multigrid.glsl's; MAX_FINE_POINTS in a
// direction.

#include "solvers/multigrid.glsl"

layout(std430, binding = 3) readonly restrict buffer Residual { Real r[]; };
layout(std430, binding = 4) readonly restrict buffer Correction { Real z[]; };
layout(std430, binding = 5) writeonly restrict buffer NextResidual { Real next_r[]; };

/// What point i, which may be beyond the boundary, is interpolated from a point of the next grid with.
Real share(int i, int next) {
  int apart = abs((i + 1) * (NEXT_N + 1) - (next + 1) * (N + 1));
  return i < 0 || i >= N ? Real(0.0) : Real(max(N + 1 - apart, 0)) / Real(N + 1);
}

void main() {
  for (int point = int(gl_GlobalInvocationID.x); point < NEXT_N * NEXT_N; point += INVOCATIONS) {
    int next_row = point / NEXT_N, next_column = point % NEXT_N;
    int first_row = next_row * (N + 1) / (NEXT_N + 1), first_column = next_column * (N + 1) / (NEXT_N + 1);
    Real sum = Real(0.0);
    for (int row = first_row; row < first_row + MAX_FINE_POINTS; ++row) {
      Real row_share = share(row, next_row);
      if (row_share == Real(0.0)) continue;
      for (int column = first_column; column < first_column + MAX_FINE_POINTS; ++column) {
        Real column_share = share(column, next_column);
        if (column_share == Real(0.0)) continue;
        int at = AT(row, column);
        Real residual = r[at] - (4.0 * z[at] - z[at - ROW_PITCH] - z[at + ROW_PITCH] - z[at - 1] - z[at + 1]);
        sum += row_share * column_share * residual;
      }
    }
    next_r[AT_NEXT(next_row, next_column)] = sum;
  }
}
