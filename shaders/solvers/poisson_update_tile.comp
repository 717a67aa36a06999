#version 450 core
// As poisson_update.comp, by tiles in shared memory. Variants: DOUBLE; MULTIGRID.

#include "solvers/poisson.glsl"
#include "solvers/poisson_tile.glsl"

layout(std430, binding = 3) restrict buffer Residual { Real r[]; };
layout(std430, binding = 4) readonly restrict buffer Direction { Real p[]; };
layout(std430, binding = 6) restrict buffer Solution { Real u[]; };

void load_tile(int first_row, int first_column) {
  barrier();  // the tile before is no longer needed
  for (int cell = int(gl_LocalInvocationIndex); cell < SIDE * SIDE; cell += 256) {
    int row = first_row + cell / SIDE - 1, column = first_column + cell % SIDE - 1;
    tile[cell] = row <= ROWS && column >= 0 && column < N ? p[AT(row, column)] : Real(0.0);
  }
  barrier();
}

void main() {
  Real alpha;
  if (!begin_update(alpha)) return;
  Real sum = Real(0.0);
  int tiles = TILES(row_range.y - row_range.x);
  for (int number = int(gl_WorkGroupID.x); number < tiles; number += int(gl_NumWorkGroups.x)) {
    int first_row = row_range.x + number / TILES_ACROSS * TILE, first_column = number % TILES_ACROSS * TILE;
    load_tile(first_row, first_column);
    for (int point = int(gl_LocalInvocationIndex); point < TILE * TILE; point += 256) {
      int row = first_row + point / TILE, column = first_column + point % TILE;
      if (row >= row_range.y || column >= N) continue;
      int cell = (point / TILE + 1) * SIDE + point % TILE + 1, at = AT(row, column);
      u[at] += alpha * tile[cell];
      Real left = r[at] - alpha * STENCIL(cell);
      r[at] = left;
      sum += left * left;
    }
  }
  leave_part(sum);
}
