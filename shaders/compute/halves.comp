#version 450 core
// Packs a part of an operand as halves.glsl says. An invocation makes an element. RIGHT: the operand is U. TRANSPOSED:
// its depth is along its rows.
// TERMS 3: a number is the sum of two halves, high and low. The operand has three parts, one after the other along the
// depth: L high, high, low; U high, low, high. Their products add up to L U but for the lows'.
#include "compute/halves.glsl"
#include "compute/place.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer From { float from[]; };
layout(std430, binding = 1) readonly restrict buffer Scales { uint largest[]; };
layout(std430, binding = 2) writeonly restrict buffer Packed { uvec4 elements[]; };

UNIFORMS
UNIFORM(0, ivec4) extents;  // depth, columns; in fragments, with padding: columns, depth
UNIFORM(1, ivec4) from_layout;
UNIFORM(2, ivec2) part;  // its number, its first element
END_UNIFORMS

// To the nearest half, ties to even, on every device. packHalf2x16 may round in other ways.
uint half_of(float x) {
  uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) return sign | uint(roundEven(abs(x) * 16777216.0));  // subnormal halves
  return sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - 0x1c000u;
}

uint rounded(float scale, bool is_low, int k, int column) {
  if (k >= extents.x || column >= extents.y) return 0u;
  float x = from[TRANSPOSED == 1 ? place(from_layout, column, k) : place(from_layout, k, column)] * scale;
  uint high = half_of(x);
  return is_low ? half_of(x - unpackHalf2x16(high).x) : high;
}
#define PAIR(k, column) rounded(scale, is_low, k, column) | rounded(scale, is_low, (k) + 1, column) << 16

void main() {
  int thread = int(gl_LocalInvocationIndex), element = thread % 32;
  int id = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 8 + thread / 32;
  int fragment = id % extents.z, along = id / extents.z;
  if (along >= extents.w) return;
  int each = extents.w / TERMS, term = along / each;
  int k = (along - term * each) * 16 + element % 4 * 2;
  bool is_low = term == (RIGHT == 1 ? 1 : 2);
  float scale = power_of_two(scale_of(largest[part.x]));
#if RIGHT
  int first = fragment * 16 + column_of(element / 4), second = fragment * 16 + column_of(element / 4 + 8);
  uvec4 words = uvec4(PAIR(k, first), PAIR(k + 8, first), PAIR(k, second), PAIR(k + 8, second));
#else
  int first = fragment * 16 + element / 4, second = first + 8;
  uvec4 words = uvec4(PAIR(k, first), PAIR(k, second), PAIR(k + 8, first), PAIR(k + 8, second));
#endif
  elements[part.y + ((fragment / BLOCK * extents.w + along) * BLOCK + fragment % BLOCK) * 32 + element] = words;
}
