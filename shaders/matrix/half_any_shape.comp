#version 460
// C <- C - L U as compute/half_products.comp, by matrices of halves of any shape with sums in single precision. A work
// group makes a block of 64 x 64. scripts/matrix_shaders.sh compiles it to the .spv beside it.
#extension GL_GOOGLE_include_directive : require
#define FACTOR float16_t
#define FACTOR_BYTES 2
#define SUM float
#include "matrix/any_shape.glsl"

layout(std430, binding = 0) readonly restrict buffer Left { uvec4 left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { uvec4 right[]; };
layout(std430, binding = 2) restrict buffer Result { float result[]; };
layout(std430, binding = 3) readonly restrict buffer LeftScale { uint left_largest; };
layout(std430, binding = 4) readonly restrict buffer RightScales { uint right_largest[]; };
layout(push_constant) uniform Uniforms {
  layout(offset = 0) ivec4 part;            // of the packed rows and columns: the first ones, their ends
  layout(offset = 32) ivec4 result_layout;  // of the part, as compute/place.glsl says
  // the depth in fragments; of U's part: its first element, its number; STRIPE_SHIFT
  layout(offset = 48) ivec4 others;
};

#define STRIPE_SHIFT others.w
#include "compute/halves.glsl"
#include "compute/place.glsl"

void main() {
  const int thread = int(gl_LocalInvocationIndex);
  const ivec2 block = part.xy / 64 + ivec2(gl_WorkGroupID.y, gl_WorkGroupID.x);
  clear_sums();
  for (int l = 0; l < others.x; ++l) {
    const ivec2 first = (block * others.x + l) * 128 + ivec2(0, others.y);
    barrier();
    for (int e = thread; e < 128; e += threads) {  // the order of halves in an element: compute/halves.glsl
      const uvec4 a = left[first.x + e], b = right[first.y + e];
      const int to = (e / 32 * 16 + e % 32 / 4) * pitch + e % 4;
      stage_a[to] = a.x;
      stage_a[to + 8 * pitch] = a.y;
      stage_a[to + 4] = a.z;
      stage_a[to + 8 * pitch + 4] = a.w;
      stage_b[to] = b.x;
      stage_b[to + 4] = b.y;
      stage_b[to + 8 * pitch] = b.z;
      stage_b[to + 8 * pitch + 4] = b.w;
    }
    barrier();
    multiply_stage();
  }
  store_sums();
  const float scale = power_of_two(-scale_of(left_largest) - scale_of(right_largest[others.z]));
  for (int e = thread; e < 64 * 64; e += threads) {
    const ivec2 at = block * 64 + ivec2(e / 64, e % 64);
    if (any(lessThan(at, part.xy)) || any(greaterThanEqual(at, part.zw))) continue;
    result[place(result_layout, at.x - part.x, at.y - part.y)] -= scale * product_at(e / 64, e % 64);
  }
}
