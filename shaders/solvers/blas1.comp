#version 450 core
// Level 1 of the BLAS, as conjugate gradients of the paper have it from cuBLAS: a kernel an operation, an invocation an
// element. Variants: DOUBLE; OPERATION 0: scal, y <- a y; 1: axpy, y <- a x + y; 2: dot, x . y, a part from each work group.
layout(local_size_x = 256) in;

#include "compute/precision.glsl"
#include "solvers/group_sum.glsl"

layout(std430, binding = 0) buffer X { Real x[]; };
layout(std430, binding = 1) buffer Y { Real y[]; };
layout(std430, binding = 2) writeonly buffer Parts { double parts[]; };

layout(location = 0) uniform int count;
layout(location = 1) uniform double a;

void main() {
#if OPERATION == 2
  double sum = 0.0;
  for (int e = int(gl_GlobalInvocationID.x); e < count; e += int(gl_NumWorkGroups.x) * 256) sum += double(x[e] * y[e]);
  sum = sum_of_group(sum);
  if (gl_LocalInvocationIndex == 0) parts[gl_WorkGroupID.x] = sum;
#else
  int e = int(gl_GlobalInvocationID.y * gl_NumWorkGroups.x * 256u + gl_GlobalInvocationID.x);
  if (e >= count) return;
#if OPERATION == 0
  y[e] = Real(a) * y[e];
#else
  y[e] += Real(a) * x[e];
#endif
#endif
}
