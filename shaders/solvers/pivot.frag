#version 450
// The largest of the pivot candidates, and where it is: coprocessor paper, 4.2. A pass reduces FAN candidates to one,
// along a column or along a row; `first` is its place among the results. A candidate is (norm, row, column, 0), the coordinates being those of its texel in the
// matrix; of equal norms that of the largest row, then column, is taken. No branches: tests become factors 0 and 1.
//
// Variants: BLOCK, COMPUTE, FAN. MEASURE 1: the first pass, which reads blocks of a matrix and measures them; else
// candidates are read. SIGNED 1: the paper's formula with the signs as they are. LARGEST 1: a block measures as much as
// its largest magnitude.

#include "solvers/block.glsl"
#define Texel vec4
#define CHANNELS rgba
#include "solvers/texel.glsl"

layout(binding = 0) uniform sampler2D source;
layout(location = 8) uniform ivec4 bounds;     // of the candidates in `source`: the first, the last
layout(location = 9) uniform ivec2 direction;  // (1, 0) or (0, 1)

#if MEASURE
// q11 q22 / (q11 + q22) of the diagonal that elimination within the block leaves, (4), without its overflow; what is not
// a number, as after a division by 0, is no pivot: 0.
float norm_of(Block block) {
#if LARGEST
  vec4 each = abs(vec4(block));
  float norm = max(max(each.x, each.y), max(each.z, each.w));
  bool usable = norm < 3.0e38;
#elif BLOCK == 2
  vec2 q = diagonal(factored(block)), magnitudes = abs(q);
  float least = min(magnitudes.x, magnitudes.y), most = max(magnitudes.x, magnitudes.y);
#if SIGNED
  float norm = least / abs(1.0 + sign(q.x) * sign(q.y) * least / most);
#else
  float norm = least / (1.0 + least / most);
#endif
  bool usable = least > 0.0 && most < 3.0e38;
#else
  float norm = abs(block);
  bool usable = norm > 0.0 && norm < 3.0e38;
#endif
  return usable ? norm : 0.0;
}

vec4 candidate_at(ivec2 at) { return vec4(norm_of(block_at(source, at)), at.y, at.x, 0.0); }
#else
vec4 candidate_at(ivec2 at) { return texelFetch(source, at, 0); }
#endif

vec4 larger(vec4 a, vec4 b) {
  float norm = max(a.x, b.x);
  float a_has = float(a.x == norm), b_has = float(b.x == norm);
  float row = max(a_has * a.y, b_has * b.y);
  a_has *= float(a.y == row);
  b_has *= float(b.y == row);
  return vec4(norm, row, max(a_has * a.z, b_has * b.z), 0.0);
}

Texel texel() {
  ivec2 begin = bounds.xy + first * (1 + (FAN - 1) * direction);
  vec4 largest = candidate_at(begin);
  // beyond the end: the last candidate again, which changes nothing
  for (int i = 1; i < FAN; ++i) largest = larger(largest, candidate_at(min(begin + i * direction, bounds.zw)));
  return largest;
}
