#version 450 core
// The largest magnitude of a part of an operand, as bits, of which NaN are the largest. A work group has 256 columns
// and DEPTH of the depth.
#include "compute/place.glsl"
#include "compute/uniforms.glsl"

#define DEPTH 64
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer From { float from[]; };
layout(std430, binding = 1) restrict buffer Scales { uint largest[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;  // depth, columns
UNIFORM(1, ivec4) from_layout;
UNIFORM(2, int) number;  // of the part
END_UNIFORMS

shared uint of_group;

void main() {
  if (gl_LocalInvocationIndex == 0u) of_group = 0u;
  barrier();
  int column = int(gl_WorkGroupID.x) * 256 + int(gl_LocalInvocationIndex);
  int first = int(gl_WorkGroupID.y) * DEPTH, end = column < extents.y ? min(first + DEPTH, extents.x) : first;
  uint own = 0u;
  for (int k = first; k < end; ++k) {
    own = max(own, floatBitsToUint(from[place(from_layout, k, column)]) & 0x7fffffffu);
  }
  atomicMax(of_group, own);
  barrier();
  if (gl_LocalInvocationIndex == 0u) atomicMax(largest[number], of_group);
}
