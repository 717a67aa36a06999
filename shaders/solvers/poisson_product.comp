#version 450 core
// q = A p as the paper computes it: an invocation an element of q, from five reads of p. Variants: DOUBLE; MEMORY, where p is
// read:
//   0 storage buffer, Algorithm 2   1 texel buffer, Algorithm 3   2 texture with a border of zeros, Algorithm 4
//   3 shared memory, section 4.3: TILE x TILE elements a work group, and the cells beside them in four arrays
// Algorithm 3 tests offset < size^2 in line 15, and so reads beyond p; here it is the test of Algorithm 2.
#include "compute/precision.glsl"

layout(location = 0) uniform int size;
layout(std430, binding = 1) writeonly restrict buffer Result { Real result[]; };

#if MEMORY == 0 || MEMORY == 3
layout(std430, binding = 0) readonly restrict buffer Operand { Real v[]; };
#define READ(at) v[at]
#elif MEMORY == 1
layout(binding = 0) uniform samplerBuffer v;
#define READ(at) texelFetch(v, at).r
#else
layout(binding = 0) uniform sampler2D v;
#define READ(x, y) textureLod(v, (vec2(x, y) + 0.5) / float(size), 0.0).r
#endif

#if MEMORY == 3
layout(local_size_x = 256) in;

shared Real block[TILE * TILE], partial[TILE * TILE];
shared Real above[TILE], below[TILE], left[TILE], right[TILE];

Real read(int row, int column) {
  bool inside = row >= 0 && row < size && column >= 0 && column < size;
  return inside ? READ(row * size + column) : Real(0.0);
}

void main() {
  int first_row = int(gl_WorkGroupID.y) * TILE, first_column = int(gl_WorkGroupID.x) * TILE;
  int id = int(gl_LocalInvocationIndex);
  for (int cell = id; cell < TILE * TILE; cell += 256) {
    block[cell] = read(first_row + cell / TILE, first_column + cell % TILE);
  }
  for (int cell = id; cell < 4 * TILE; cell += 256) {
    int side = cell / TILE, place = cell % TILE;
    if (side == 0) above[place] = read(first_row - 1, first_column + place);
    if (side == 1) below[place] = read(first_row + TILE, first_column + place);
    if (side == 2) left[place] = read(first_row + place, first_column - 1);
    if (side == 3) right[place] = read(first_row + place, first_column + TILE);
  }
  barrier();
  for (int cell = id; cell < TILE * TILE; cell += 256) {
    int row = cell / TILE, column = cell % TILE;
    Real sum = 4.0 * block[cell];
    sum -= row > 0 ? block[cell - TILE] : above[column];
    sum -= row < TILE - 1 ? block[cell + TILE] : below[column];
    sum -= column > 0 ? block[cell - 1] : left[row];
    sum -= column < TILE - 1 ? block[cell + 1] : right[row];
    partial[cell] = sum;
  }
  barrier();
  for (int cell = id; cell < TILE * TILE; cell += 256) {
    int row = first_row + cell / TILE, column = first_column + cell % TILE;
    if (row < size && column < size) result[row * size + column] = partial[cell];
  }
}
#elif MEMORY == 2
layout(local_size_x = 16, local_size_y = 16) in;

void main() {
  int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
  if (x >= size || y >= size) return;
  result[y * size + x] = 4.0 * READ(x, y) - READ(x, y - 1) - READ(x - 1, y) - READ(x + 1, y) - READ(x, y + 1);
}
#else
layout(local_size_x = 256) in;

void main() {
  int tid = int(gl_GlobalInvocationID.y * gl_NumWorkGroups.x * 256u + gl_GlobalInvocationID.x);
  if (tid >= size * size) return;
  Real sum = 4.0 * READ(tid);
  if (tid >= size) sum -= READ(tid - size);
  if (tid % size != 0) sum -= READ(tid - 1);
  if ((tid + 1) % size != 0) sum -= READ(tid + 1);
  if (tid < size * size - size) sum -= READ(tid + size);
  result[tid] = sum;
}
#endif
