#version 450
// C = A B, a texel of C a fragment; A, B and C in the same packing (src/local/solvers/device/packing.hpp). A step is what two
// texels that meet give: one term of the sums with packing 1x1, two with 2x2, four with 4x1 and 1x4.
//
// Variants: PACKING 11, 41, 14 or 22. PLANE: a rectangle is one plane of Larsen and McAllister's cube of processors, one
// step, whose texels its vertices name; planes are summed by blending. BYTES: in textures of bytes. Else the steps of
// `steps` are summed here, all (single pass) or some; ACCUMULATE: and added to what `sums` has of them (multi-pass).

layout(binding = 0) uniform sampler2D left;
layout(binding = 1) uniform sampler2D right;
layout(binding = 2) uniform sampler2D sums;
layout(location = 1) uniform ivec2 steps;  // first, end
#if BYTES
layout(location = 2) uniform vec2 product_scale;  // in x
#endif
layout(location = 0) noperspective in vec2 left_coordinate;
layout(location = 1) noperspective in vec2 right_coordinate;

#if PACKING == 11
#define Texel float
#define CHANNELS r
#else
#define Texel vec4
#define CHANNELS rgba
#endif
// texels of A along a row, and of B along a column, that a step takes
#define LEFT_STEP (PACKING == 41 ? 4 : 1)
#define RIGHT_STEP (PACKING == 14 ? 4 : 1)

layout(location = 0) out Texel result;

Texel a(ivec2 at, int next) { return texelFetch(left, at + ivec2(next, 0), 0).CHANNELS; }
Texel b(ivec2 at, int next) { return texelFetch(right, at + ivec2(0, next), 0).CHANNELS; }

// sum + the step that begins at these texels
Texel add_step(ivec2 left_texel, ivec2 right_texel, Texel sum) {
#if PACKING == 11
  sum = fma(a(left_texel, 0), b(right_texel, 0), sum);
#elif PACKING == 22
  vec4 block_a = a(left_texel, 0), block_b = b(right_texel, 0);
  sum = fma(block_a.rrbb, block_b.rgrg, sum);
  sum = fma(block_a.ggaa, block_b.baba, sum);
#elif PACKING == 41
  vec4 column_b = b(right_texel, 0);
  sum = fma(a(left_texel, 0), column_b.rrrr, sum);
  sum = fma(a(left_texel, 1), column_b.gggg, sum);
  sum = fma(a(left_texel, 2), column_b.bbbb, sum);
  sum = fma(a(left_texel, 3), column_b.aaaa, sum);
#else
  vec4 row_a = a(left_texel, 0);
  sum = fma(row_a.rrrr, b(right_texel, 0), sum);
  sum = fma(row_a.gggg, b(right_texel, 1), sum);
  sum = fma(row_a.bbbb, b(right_texel, 2), sum);
  sum = fma(row_a.aaaa, b(right_texel, 3), sum);
#endif
  return sum;
}

void main() {
#if PLANE
  result = add_step(ivec2(left_coordinate), ivec2(right_coordinate), Texel(0.0));
#if BYTES
  result *= product_scale.x;
#endif
#else
  ivec2 at = ivec2(gl_FragCoord.xy);
#if ACCUMULATE
  Texel sum = texelFetch(sums, at, 0).CHANNELS;
#else
  Texel sum = Texel(0.0);
#endif
  for (int k = steps.x; k < steps.y; ++k) {
    sum = add_step(ivec2(k * LEFT_STEP, at.y), ivec2(at.x, k * RIGHT_STEP), sum);
  }
  result = sum;
#endif
}
