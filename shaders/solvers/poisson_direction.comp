#version 450 core
// p <- z + beta p in all rows and in the ghost rows, and p . A p (Hestenes and Stiefel). An invocation takes a column of
// items down a block of rows, so that the new p is computed once for the three rows that need it. It goes to other
// memory, since neighbours read the old one.
//
// Variants: DOUBLE; MULTIGRID; MEMORY, of poisson_memory.glsl.

#include "solvers/poisson.glsl"
#define UPDATE 0
#include "solvers/poisson_memory.glsl"

#define NEW(at) (R(at) + beta * P(at))
#define NEW_LEFT(at) (LAST(R(LEFT(at))) + beta * LAST(P(LEFT(at))))
#define NEW_RIGHT(at) (FIRST(R(RIGHT(at))) + beta * FIRST(P(RIGHT(at))))

void main() {
  Real beta;
  if (!begin_direction(beta)) return;
  int invocations = int(gl_NumWorkGroups.x) * 256;
  int blocks = ROW_PITCH * ((ROWS + BLOCK_ROWS - 1) / BLOCK_ROWS);
  Real sum = Real(0.0);
  for (int block = int(gl_GlobalInvocationID.x); block < blocks; block += invocations) {
    int row = block / ROW_PITCH * BLOCK_ROWS, end = min(row + BLOCK_ROWS, ROWS);
    Place at = PLACE(row, block % ROW_PITCH);
    Item above = NEW(ABOVE(at)), here = NEW(at);
#if GHOST_ROWS
    if (row == 0) STORE_P(ABOVE(at), above);
#endif
    for (; row < end; ++row) {
      Item below = NEW(BELOW(at));
      sum += dot(here, STENCIL(here, above, below, NEW_LEFT(at), NEW_RIGHT(at)));
      STORE_P(at, here);
      above = here;
      here = below;
      at = BELOW(at);
    }
#if GHOST_ROWS
    if (end == ROWS) STORE_P(at, here);
#endif
  }
  leave_part(sum);
}
