#version 450 core
// As poisson_direction.comp, by tiles in shared memory. Variants: DOUBLE; MULTIGRID.

#include "solvers/poisson.glsl"
#include "solvers/poisson_tile.glsl"

layout(std430, binding = 3) readonly restrict buffer Residual { Real r[]; };
layout(std430, binding = 4) readonly restrict buffer Direction { Real p[]; };
layout(std430, binding = 5) writeonly restrict buffer NewDirection { Real new_p[]; };

void load_tile(int first_row, int first_column, Real beta) {
  barrier();  // the tile before is no longer needed
  for (int cell = int(gl_LocalInvocationIndex); cell < SIDE * SIDE; cell += 256) {
    int row = first_row + cell / SIDE - 1, column = first_column + cell % SIDE - 1;
    Real value = Real(0.0);
    if (row <= ROWS && column >= 0 && column < N) value = r[AT(row, column)] + beta * p[AT(row, column)];
    tile[cell] = value;
  }
  barrier();
}

void main() {
  Real beta;
  if (!begin_direction(beta)) return;
  Real sum = Real(0.0);
  for (int number = int(gl_WorkGroupID.x); number < TILES(ROWS); number += int(gl_NumWorkGroups.x)) {
    int first_row = number / TILES_ACROSS * TILE, first_column = number % TILES_ACROSS * TILE;
    load_tile(first_row, first_column, beta);
    for (int point = int(gl_LocalInvocationIndex); point < TILE * TILE; point += 256) {
      int row = first_row + point / TILE, column = first_column + point % TILE;
      if (row >= ROWS || column >= N) continue;
      int cell = (point / TILE + 1) * SIDE + point % TILE + 1;
      sum += tile[cell] * STENCIL(cell);
      new_p[AT(row, column)] = tile[cell];
      if (row == 0) new_p[AT(-1, column)] = tile[cell - SIDE];
      if (row == ROWS - 1) new_p[AT(ROWS, column)] = tile[cell + SIDE];
    }
  }
  leave_part(sum);
}
