#version 450 core
// p <- r + beta p in all rows and in the ghost rows, and p . A p (Hestenes and Stiefel). An invocation takes a column of
// vectors down a block of rows, so that a vector of the new p is computed once for the three rows that need it. The new
// p goes to another buffer, since neighbours read the old one.

#include "solvers/poisson.glsl"

layout(std430, binding = 3) readonly restrict buffer Residual { Vector r[]; };
layout(std430, binding = 4) readonly restrict buffer Direction { Vector p[]; };
layout(std430, binding = 5) writeonly restrict buffer NewDirection { Vector new_p[]; };

#define NEW(at) (r[at] + beta * p[at])
#define NEW_LEFT(at) (LAST(r[(at) - 1]) + beta * LAST(p[(at) - 1]))
#define NEW_RIGHT(at) (r[(at) + 1].x + beta * p[(at) + 1].x)

void main() {
  double square = sum_of_parts();
  double first_square = ITERATION == 0 ? square : residual_square[0];
  if (gl_GlobalInvocationID.x == 0) residual_square[ITERATION] = square;
  if (square <= squared_tolerance * first_square) return;
  Real beta = ITERATION == 0 ? Real(0.0) : Real(square / residual_square[ITERATION - 1]);

  int invocations = int(gl_NumWorkGroups.x) * 256;
  int blocks = ROW_VECTORS * ((ROWS + BLOCK_ROWS - 1) / BLOCK_ROWS);
  Real sum = Real(0.0);
  for (int block = int(gl_GlobalInvocationID.x); block < blocks; block += invocations) {
    int row = block / ROW_VECTORS * BLOCK_ROWS, end = min(row + BLOCK_ROWS, ROWS);
    int at = row * ROW_VECTORS + block % ROW_VECTORS;
    Vector above = NEW(at), here = NEW(at + ROW_VECTORS);
    if (row == 0) new_p[at] = above;
    for (at += ROW_VECTORS; row < end; ++row, at += ROW_VECTORS) {
      Vector below = NEW(at + ROW_VECTORS);
      sum += dot(here, STENCIL(here, above, below, NEW_LEFT(at), NEW_RIGHT(at)));
      new_p[at] = here;
      above = here;
      here = below;
    }
    if (end == ROWS) new_p[at] = here;
  }
  leave_part(sum);
}
