#version 450 core
// One step of parallel cyclic reduction (R. W. Hockney and C. R. Jesshope; after H. S. Stone, Parallel tridiagonal
// equation solvers, 1975): every equation i, coupled with i - distance and i + distance, becomes one that is coupled
// with i - 2 distance and i + 2 distance, with 1 on its diagonal. An equation an invocation.
//
// Variants: GROUP: invocations of a work group. DOUBLE 0 or 1. FIRST 1: the diagonal is read; 0: it is 1, and not read.
layout(local_size_x = GROUP) in;

#include "compute/precision.glsl"

layout(std430, binding = 0) readonly restrict buffer Lower { Real lower[]; };
#if FIRST
layout(std430, binding = 1) readonly restrict buffer Diagonal { Real diagonal[]; };
#endif
layout(std430, binding = 2) readonly restrict buffer Upper { Real upper[]; };
layout(std430, binding = 3) readonly restrict buffer Right { Real right[]; };
layout(std430, binding = 4) writeonly restrict buffer NewLower { Real new_lower[]; };
layout(std430, binding = 5) writeonly restrict buffer NewUpper { Real new_upper[]; };
layout(std430, binding = 6) restrict buffer Status { int status[]; };
layout(std430, binding = 7) writeonly restrict buffer NewRight { Real new_right[]; };
layout(location = 0) uniform ivec2 count;  // systems, equations of each, one system after the other
layout(location = 1) uniform int distance_now;

#include "solvers/tridiagonal_status.glsl"

struct Equation {
  Real lower, upper, right;
};

// with 1 on the diagonal; beyond the system: x = 0
Equation load(int system, int i) {
  if (i < 0 || i >= count.y) return Equation(Real(0.0), Real(0.0), Real(0.0));
  int at = system * count.y + i;
  Equation e = Equation(lower[at], upper[at], right[at]);
#if FIRST
  Real pivot = diagonal[at];
  if (pivot == 0.0) note_zero_pivot(system, i);
  e.lower /= pivot;
  e.upper /= pivot;
  e.right /= pivot;
#endif
  return e;
}

void reduce(int system, int i) {
  Equation own = load(system, i), before = load(system, i - distance_now), after = load(system, i + distance_now);
  Real pivot = Real(1.0) - own.lower * before.upper - own.upper * after.lower;
  if (pivot == 0.0) note_zero_pivot(system, i);
  int at = system * count.y + i;
  new_lower[at] = -own.lower * before.lower / pivot;
  new_upper[at] = -own.upper * after.upper / pivot;
  new_right[at] = (own.right - own.lower * before.right - own.upper * after.right) / pivot;
}

void main() {
  int invocations = int(gl_NumWorkGroups.x * gl_WorkGroupSize.x);
  for (int i = int(gl_GlobalInvocationID.x); i < count.y; i += invocations) reduce(int(gl_GlobalInvocationID.y), i);
}
