#version 450 core
// C <- C - L U of packed halves on devices without matrices of halves. An invocation makes what it would of a fragment:
// four neighbours of a row and of the row 8 below.
#include "compute/halves.glsl"
#include "compute/place.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer Left { uvec4 left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { uvec4 right[]; };
layout(std430, binding = 2) restrict buffer Result { float result[]; };
layout(std430, binding = 3) readonly restrict buffer LeftScale { uint left_largest; };
layout(std430, binding = 4) readonly restrict buffer RightScales { uint right_largest[]; };

UNIFORMS
UNIFORM(0, ivec4) part;           // of the packed rows and columns: the first ones, their ends
UNIFORM(2, ivec4) result_layout;  // of the part
UNIFORM(3, ivec4) others;         // the depth in fragments; of U's part: its first element, its number
END_UNIFORMS

float dot_of(uint low_a, uint low_b, uint high_a, uint high_b, float sum) {
  vec2 a = unpackHalf2x16(low_a), b = unpackHalf2x16(low_b);
  sum = fma(a.y, b.y, fma(a.x, b.x, sum));
  a = unpackHalf2x16(high_a);
  b = unpackHalf2x16(high_b);
  return fma(a.y, b.y, fma(a.x, b.x, sum));
}

void main() {
  int thread = int(gl_LocalInvocationIndex), element = thread % 32;
  ivec2 fragment = part.xy / 16 + ivec2(gl_WorkGroupID.y, gl_WorkGroupID.x * 8u + uint(thread / 32));
  ivec2 corner = fragment * 16 + ivec2(element / 4, element % 4 * 4);
  if (corner.x >= part.z || corner.y >= part.w) return;
  float sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = 0.0;
  for (int l = 0; l < others.x; ++l) {
    ivec2 first = ((fragment / BLOCK * others.x + l) * BLOCK + fragment % BLOCK) * 32;
    for (int t = 0; t < 4; ++t) {
      uvec4 a = left[first.x + element / 4 * 4 + t];
      for (int j = 0; j < 4; ++j) {  // columns of which places 2 t', 2 t' + 1 and 8 more are neighbours
        uvec4 b = right[others.y + first.y + (element % 4 * 2 + j % 2) * 4 + t];
        uvec2 own = j < 2 ? b.xy : b.zw;
        sums[j] = dot_of(a.x, own.x, a.z, own.y, sums[j]);
        sums[4 + j] = dot_of(a.y, own.x, a.w, own.y, sums[4 + j]);
      }
    }
  }
  float scale = power_of_two(-scale_of(left_largest) - scale_of(right_largest[others.z]));
  for (int i = 0; i < 8; ++i) {
    int row = corner.x + i / 4 * 8, column = corner.y + i % 4;
    if (row < part.x || row >= part.z || column < part.y || column >= part.w) continue;
    int at = place(result_layout, row - part.x, column - part.y);
    result[at] = result[at] - scale * sums[i];
  }
}
