#version 450
// A step of Gauss-Jordan elimination (coprocessor paper, 4.2), from `source` into the other texture: the pivot P, a block
// in the pivot row, becomes the identity, everything above and below it 0. Rows are exchanged by where the coordinates
// point.
//
// Variants: BLOCK, COMPUTE, DOUBLE, and STEP:
//   1 normalize  the pivot row S where the top row was: P^-1 S                   first: S      second: P
//   2 exchange   the top row T where the pivot row was: T - T' P^-1 S            first: T      second: T'     third: S
//   3 eliminate  all other rows R, N being the normalized row: R - R' N          first: R      second: R'     third: N
// T' and R' are the blocks of the row in the pivot's column.

#include "solvers/block.glsl"
#define Texel Block
#define CHANNELS BLOCK_CHANNELS
#include "solvers/texel.glsl"

layout(binding = 0) uniform Blocks source;
layout(binding = 1) uniform Blocks normalized;

Texel texel() {
#if STEP == 1
  return solved(block_at(source, second), block_at(source, first));
#elif STEP == 2
  Block pivot = block_at(source, ivec2(second.x, third.y));
  return reduced(block_at(source, first), block_at(source, second), solved(pivot, block_at(source, third)));
#else
  return reduced(block_at(source, first), block_at(source, second), block_at(normalized, third));
#endif
}
