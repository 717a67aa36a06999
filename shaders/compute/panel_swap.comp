#version 450 core
// Applies the pivots of a block to a transposed panel; a work group has one column of the panel.
//   - Moves the winners to the top of every column.
//   - Writes L \ U of the winners into the block's own columns.
//   - Writes U12 <- L11^-1 A12 into the columns to the right, within the block's group (panel_upper.comp: beyond it).
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#define BLOCK 32

layout(local_size_x = 2 * BLOCK) in;

layout(std430, binding = 0) restrict buffer Panel { Real panel[]; };
layout(std430, binding = 1) readonly restrict buffer Factors { Real factors[]; };
layout(std430, binding = 2) readonly restrict buffer Moves { ivec2 moves[]; };
layout(std430, binding = 3) writeonly restrict buffer Upper { Real upper[]; };

UNIFORMS
UNIFORM(0, ivec2) block;         // first column and row, columns
UNIFORM(1, ivec4) panel_layout;
UNIFORM(2, ivec4) upper_layout;  // U12 once more, by rows, for the reduction of the rest
UNIFORM(3, int) group_end;       // the first column behind the block's group
END_UNIFORMS

shared Real top[BLOCK];
shared Real multipliers[BLOCK * (BLOCK + 1)];  // by rows a bank apart

void main() {
  int me = int(gl_LocalInvocationIndex);
  int column = int(gl_WorkGroupID.x);
  int first = block.x, width = block.y;
  bool to_the_right = column >= first + width && column < group_end;

  ivec2 move = moves[me];
  Real value = move.x >= 0 ? panel[place(panel_layout, column, move.x)] : Real(0);
  if (to_the_right) {
    for (int e = me; e < BLOCK * BLOCK; e += 2 * BLOCK) multipliers[e / BLOCK * (BLOCK + 1) + e % BLOCK] = factors[e];
  }
  barrier();  // all are read before any is written
  if (me >= BLOCK && move.x >= 0) panel[place(panel_layout, column, move.y)] = value;

  if (to_the_right) {
    // invocation i has row i: x[i] = a[i] - l[i][0] x[0] - l[i][1] x[1] ...
    for (int k = 0; k < width; ++k) {
      if (me == k) top[k] = value;
      barrier();
      if (me > k && me < width) value = fma(-multipliers[me * (BLOCK + 1) + k], top[k], value);
    }
    if (me < width) upper[place(upper_layout, me, column - first - width)] = value;
  } else if (column >= first && column < first + width && me < width) {
    value = factors[me * BLOCK + column - first];
  }
  if (me < width) panel[place(panel_layout, column, first + me)] = value;
}
