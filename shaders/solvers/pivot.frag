#version 450
// The largest of the pivot candidates, and where it is: coprocessor paper, 4.2. A pass reduces FAN candidates to one,
// along a column or along a row; `first` is its place among the results. A candidate is (norm, row, column, 0), the coordinates being those of its texel in the
// matrix; of equal norms that of the largest row, then column, is taken. No branches: tests become factors 0 and 1.
//
// Variants: BLOCK, COMPUTE, DOUBLE, FAN. MEASURE 1: the first pass, which reads blocks of a matrix and measures them; else
// candidates are read. SIGNED 1: the paper's formula with the signs as they are. LARGEST 1: a block measures as much as
// its largest magnitude.

#include "solvers/block.glsl"
#define Texel Quad
#define CHANNELS rgba
#include "solvers/texel.glsl"

layout(binding = 0) uniform Blocks source;
layout(location = 8) uniform ivec4 bounds;     // of the candidates in `source`: the first, the last
layout(location = 9) uniform ivec2 direction;  // (1, 0) or (0, 1)

#if MEASURE
// q11 q22 / (q11 + q22) of the diagonal that elimination within the block leaves, (4), without its overflow; what is not
// a number, as after a division by 0, is no pivot: 0.
Real norm_of(Block block) {
#if LARGEST
  Quad each = abs(Quad(block));
  Real norm = max(max(each.x, each.y), max(each.z, each.w));
  bool usable = norm < LARGEST_REAL;
#elif BLOCK == 2
  Pair q = diagonal(factored(block)), magnitudes = abs(q);
  Real least = min(magnitudes.x, magnitudes.y), most = max(magnitudes.x, magnitudes.y);
#if SIGNED
  Real norm = least / abs(1.0 + sign(q.x) * sign(q.y) * least / most);
#else
  Real norm = least / (1.0 + least / most);
#endif
  bool usable = least > 0.0 && most < LARGEST_REAL;
#else
  Real norm = abs(block);
  bool usable = norm > 0.0 && norm < LARGEST_REAL;
#endif
  return usable ? norm : Real(0.0);
}

Quad candidate_at(ivec2 at) { return Quad(norm_of(block_at(source, at)), at.y, at.x, 0.0); }
#else
Quad candidate_at(ivec2 at) { return quad_at(source, at); }
#endif

Quad larger(Quad a, Quad b) {
  Real norm = max(a.x, b.x);
  Real a_has = Real(a.x == norm), b_has = Real(b.x == norm);
  Real row = max(a_has * a.y, b_has * b.y);
  a_has *= Real(a.y == row);
  b_has *= Real(b.y == row);
  return Quad(norm, row, max(a_has * a.z, b_has * b.z), 0.0);
}

Texel texel() {
  ivec2 begin = bounds.xy + first * (1 + (FAN - 1) * direction);
  Quad largest = candidate_at(begin);
  // beyond the end: the last candidate again, which changes nothing
  for (int i = 1; i < FAN; ++i) largest = larger(largest, candidate_at(min(begin + i * direction, bounds.zw)));
  return largest;
}
