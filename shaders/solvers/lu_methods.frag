#version 450
// Right-looking LU without pivoting, step i = `second.x` (Ino et al. 2005, Fig. 2 to 4). Coordinates: first: the texel
// itself; second: column i of its row; third: the pivot's row in its column.
//
// Variants: VECTOR 0: an element a texel, in red. 1: four rows a texel, of which the pivot is in `pivot_channel`.
// CHANNELS_FROM 0 to 3: the first channel that is rendered, up to alpha; others are masked by the host.
// OPERATION: 1 multipliers  L = A_ji / A_ii              `source` is read
//            2 reduce       A_jk - L_ji A_ik             L from `multipliers`
//            3 fused        either, by the column, L being divided for every element
// RECIPROCAL 1: a / pivot is a (1 / pivot), as the paper's GPUs divide.
// ACCESS 1: reads the same texels without arithmetic; min and max, so that no compiler drops a read and nothing grows.

#define Texel vec4
#define CHANNELS rgba
#include "solvers/texel.glsl"

layout(binding = 0) uniform sampler2D source;
layout(binding = 1) uniform sampler2D multipliers;
layout(location = 8) uniform int pivot_channel;

#if VECTOR == 0
#define Rendered float
#define RENDERED r
#define of_pivot_row(texel) (texel).r
#else
#if CHANNELS_FROM == 0
#define Rendered vec4
#define RENDERED rgba
#elif CHANNELS_FROM == 1
#define Rendered vec3
#define RENDERED gba
#elif CHANNELS_FROM == 2
#define Rendered vec2
#define RENDERED ba
#else
#define Rendered float
#define RENDERED a
#endif
float of_pivot_row(vec4 texel) { return texel[pivot_channel]; }
#endif

Rendered rows_at(sampler2D matrix, ivec2 at) { return texelFetch(matrix, at, 0).RENDERED; }
float pivot_row_at(ivec2 at) { return of_pivot_row(texelFetch(source, at, 0)); }

#if ACCESS
Rendered divided(Rendered a, float pivot) { return min(a, pivot); }
Rendered reduced(Rendered a, Rendered l, float u) { return min(a, max(l, u)); }
#else
#if RECIPROCAL
Rendered divided(Rendered a, float pivot) { return a * (1.0 / pivot); }
#else
Rendered divided(Rendered a, float pivot) { return a / pivot; }
#endif
Rendered reduced(Rendered a, Rendered l, float u) { return fma(-l, Rendered(u), a); }
#endif

Rendered rendered() {
#if OPERATION == 1
  return divided(rows_at(source, first), pivot_row_at(third));
#elif OPERATION == 2
  return reduced(rows_at(source, first), rows_at(multipliers, second), pivot_row_at(third));
#else
  float pivot = pivot_row_at(ivec2(second.x, third.y));
  if (first.x == second.x) return divided(rows_at(source, first), pivot);
  return reduced(rows_at(source, first), divided(rows_at(source, second), pivot), pivot_row_at(third));
#endif
}

Texel texel() {
  vec4 result = vec4(0.0);
  result.RENDERED = rendered();
  return result;
}
