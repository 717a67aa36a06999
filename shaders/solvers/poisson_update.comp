#version 450 core
// u <- u + alpha p, r <- r - alpha A p in a range of rows, and r . r (Hestenes and Stiefel). A p is computed once more: p
// is read anyway, and A p neither written nor read. Invocations as in poisson_direction.comp.

#include "solvers/poisson.glsl"

layout(std430, binding = 3) restrict buffer Residual { Vector r[]; };
layout(std430, binding = 4) readonly restrict buffer Direction { Vector p[]; };
layout(std430, binding = 5) restrict buffer Solution { Vector u[]; };

// 1 where a row has elements, 0 behind them
Vector within_row(int vector) {
#if DOUBLE
  int j = 2 * vector;
  return dvec2(lessThan(ivec2(j, j + 1), ivec2(N)));
#else
  int j = 4 * vector;
  return vec4(lessThan(ivec4(j, j + 1, j + 2, j + 3), ivec4(N)));
#endif
}

void main() {
  double curvature = sum_of_parts(), square = residual_square[ITERATION];
  if (square <= squared_tolerance * residual_square[0]) return;
  Real alpha = Real(square / curvature);

  int invocations = int(gl_NumWorkGroups.x) * 256;
  int blocks = ROW_VECTORS * ((row_range.y - row_range.x + BLOCK_ROWS - 1) / BLOCK_ROWS);
  Real sum = Real(0.0);
  for (int block = int(gl_GlobalInvocationID.x); block < blocks; block += invocations) {
    int row = row_range.x + block / ROW_VECTORS * BLOCK_ROWS, end = min(row + BLOCK_ROWS, row_range.y);
    int vector = block % ROW_VECTORS, at = row * ROW_VECTORS + vector;
    Vector within = within_row(vector), above = p[at], here = p[at + ROW_VECTORS];
    for (at += ROW_VECTORS; row < end; ++row, at += ROW_VECTORS) {
      Vector below = p[at + ROW_VECTORS];
      u[at] += alpha * here;
      Vector left = r[at] - alpha * within * STENCIL(here, above, below, LAST(p[at - 1]), p[at + 1].x);
      r[at] = left;
      sum += dot(left, left);
      above = here;
      here = below;
    }
  }
  leave_part(sum);
}
