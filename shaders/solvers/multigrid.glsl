// What the kernels of a V-cycle have in common (src/local/solvers/poisson/poisson_multigrid.hpp). Grids lie like r and p in
// poisson_memory.glsl with MEMORY 0, and are taken element by element: element (i, j) of n x n at (i + 1) ROW_PITCH + j,
// with zeros above, below, and behind a row's elements. Invocations go down columns.
//
// Variants: DOUBLE; MULTIGRID 1; OF_RESIDUAL, OF_PRODUCT, DIVISOR, of the smoother p(A).
#include "solvers/poisson.glsl"

layout(location = 3) uniform ivec4 next_grid;  // n, ROW_PITCH of the next grid, and what its z is divided by

#define AT(row, column) (((row) + 1) * ROW_PITCH + (column))
#define AT_NEXT(row, column) (((row) + 1) * next_grid.y + (column))
#define NEXT_N next_grid.x

// p(A) v, given v and A v
#define SMOOTHED(v, product) \
  ((Real(OF_RESIDUAL) / Real(DIVISOR)) * (v) - (Real(OF_PRODUCT) / Real(DIVISOR)) * (product))

// of a thread's blocks of rows in a column: their count, and the column and first row of one
#define BLOCKS (N * ((N + BLOCK_ROWS - 1) / BLOCK_ROWS))
#define COLUMN_OF(block) ((block) % N)
#define FIRST_ROW_OF(block) ((block) / N * BLOCK_ROWS)
#define INVOCATIONS (int(gl_NumWorkGroups.x) * 256)
