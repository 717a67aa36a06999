#version 450 core
// How many fused multiply-adds a second the device does. Every invocation has eight vectors in registers and goes
// x <- a x + b with each, again and again: independent chains, one for each element.
//
// Nothing may be left out, since results are checked: elements start at different values, a and b come from memory
// (a = 1, whole b: sums of whole numbers are exact), and a work group writes the sum over all of its elements.
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer Factors { Real factors[2]; };  // a, b
layout(std430, binding = 1) writeonly restrict buffer Sums { uint sums[]; };        // modulo 2^32

UNIFORMS
UNIFORM(0, int) turns;  // of eight steps each
END_UNIFORMS

shared uint group_sum;

#if DOUBLE
#define START(vector) Vector(2 * (vector), 2 * (vector) + 1)
#define SUM(v) (v.x + v.y)
#else
#define START(vector) Vector(4 * (vector), 4 * (vector) + 1, 4 * (vector) + 2, 4 * (vector) + 3)
#define SUM(v) (v.x + v.y + v.z + v.w)
#endif

#define STEP                                                                          \
  x0 = fma(x0, a, b); x1 = fma(x1, a, b); x2 = fma(x2, a, b); x3 = fma(x3, a, b);     \
  x4 = fma(x4, a, b); x5 = fma(x5, a, b); x6 = fma(x6, a, b); x7 = fma(x7, a, b);

void main() {
  if (gl_LocalInvocationIndex == 0) group_sum = 0;
  barrier();
  Vector a = Vector(factors[0]);
  Vector b = Vector(factors[1] * Real(1 + gl_LocalInvocationIndex % 4));
  Vector x0 = START(0), x1 = START(1), x2 = START(2), x3 = START(3);
  Vector x4 = START(4), x5 = START(5), x6 = START(6), x7 = START(7);
  for (int turn = 0; turn < turns; ++turn) {
    STEP STEP STEP STEP STEP STEP STEP STEP
  }
  atomicAdd(group_sum, uint(SUM(x0) + SUM(x1) + SUM(x2) + SUM(x3) + SUM(x4) + SUM(x5) + SUM(x6) + SUM(x7)));
  barrier();
  if (gl_LocalInvocationIndex == 0) sums[gl_WorkGroupID.x] = group_sum;
}
