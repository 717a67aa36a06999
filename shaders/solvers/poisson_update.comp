#version 450 core
// u <- u + alpha p, r <- r - alpha A p in a range of rows, and r . r (Hestenes and Stiefel). A p is computed once more: p
// is read anyway, and A p neither written nor read. Invocations as in poisson_direction.comp.
//
// Variants: DOUBLE; MULTIGRID; MEMORY, of poisson_memory.glsl.

#include "solvers/poisson.glsl"
#define UPDATE 1
#include "solvers/poisson_memory.glsl"

layout(std430, binding = 6) restrict buffer Solution { Item solution[]; };

// 1 where a row has elements, 0 behind them
#if ITEM_WIDTH == 1
#define WITHIN_ROW(item) float((item) < N)
#elif ITEM_WIDTH == 2
#define WITHIN_ROW(item) dvec2(lessThan(2 * (item) + ivec2(0, 1), ivec2(N)))
#else
#define WITHIN_ROW(item) vec4(lessThan(4 * (item) + ivec4(0, 1, 2, 3), ivec4(N)))
#endif

void main() {
  Real alpha;
  if (!begin_update(alpha)) return;
  int invocations = int(gl_NumWorkGroups.x) * 256;
  int blocks = ROW_PITCH * ((row_range.y - row_range.x + BLOCK_ROWS - 1) / BLOCK_ROWS);
  Real sum = Real(0.0);
  for (int block = int(gl_GlobalInvocationID.x); block < blocks; block += invocations) {
    int row = row_range.x + block / ROW_PITCH * BLOCK_ROWS, end = min(row + BLOCK_ROWS, row_range.y);
    int item = block % ROW_PITCH, of_solution = (row + GHOST_ROWS) * ROW_PITCH + item;
    Place at = PLACE(row, item);
    Item within = WITHIN_ROW(item), above = P(ABOVE(at)), here = P(at);
    for (; row < end; ++row, of_solution += ROW_PITCH) {
      Item below = P(BELOW(at));
      solution[of_solution] += alpha * here;
      Item left = OWN_R(at) - alpha * within * STENCIL(here, above, below, LAST(P(LEFT(at))), FIRST(P(RIGHT(at))));
      STORE_R(at, left);
      sum += dot(left, left);
      above = here;
      here = below;
      at = BELOW(at);
    }
  }
  leave_part(sum);
}
