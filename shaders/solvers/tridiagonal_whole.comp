#version 450 core
// Tridiagonal systems, a system an invocation: Gaussian elimination without pivoting (Thomas; LAPACK gttrf and gttrs
// without interchanges). Neighbouring invocations read neighbouring addresses.
//
// Variants: GROUP: invocations of a work group. DOUBLE 0 or 1. NORMALIZED 1: the diagonal is 1, and not read.
layout(local_size_x = GROUP) in;

#include "compute/precision.glsl"

layout(std430, binding = 0) readonly restrict buffer Lower { Real lower[]; };
#if !NORMALIZED
layout(std430, binding = 1) readonly restrict buffer Diagonal { Real diagonal[]; };
#endif
layout(std430, binding = 2) readonly restrict buffer Upper { Real upper[]; };
layout(std430, binding = 3) readonly restrict buffer Right { Real right[]; };
layout(std430, binding = 4) restrict buffer Solution { Real solution[]; };
layout(std430, binding = 5) restrict buffer Multipliers { Real multipliers[]; };  // upper / pivot
layout(std430, binding = 6) restrict buffer Status { int status[]; };
layout(location = 0) uniform ivec2 count;   // systems, equations of each
layout(location = 1) uniform ivec2 stride;  // from system to system, from equation to equation
layout(location = 2) uniform int parts;     // a system's equations of equal i mod parts are a system; at most count.y

#include "solvers/tridiagonal_status.glsl"

#if NORMALIZED
#define DIAGONAL(at) Real(1.0)
#else
#define DIAGONAL(at) diagonal[at]
#endif

// one equation forward: the pivot, and what is kept of the equation
#define FORWARD(l, b, u, d, at, equation)              \
  pivot = fma(-l, above, b);                           \
  if (pivot == 0.0) note_zero_pivot(system, equation); \
  above = u / pivot;                                   \
  value = fma(-l, value, d) / pivot;                   \
  multipliers[at] = above;                             \
  solution[at] = value;

#define BACKWARD(at, factor, kept)   \
  value = fma(-factor, value, kept); \
  solution[at] = value;

void solve(int system, int part) {
  int equations = (count.y - part + parts - 1) / parts;
  int first = system * stride.x + part * stride.y, step = parts * stride.y;

  Real above = 0.0, value = 0.0, pivot;
  int k = 0, at = first;
  for (; k + 4 <= equations; k += 4) {  // four at a time, so that their loads are on the way together
    int at1 = at + step, at2 = at1 + step, at3 = at2 + step;
    Real l0 = lower[at], l1 = lower[at1], l2 = lower[at2], l3 = lower[at3];
    Real b0 = DIAGONAL(at), b1 = DIAGONAL(at1), b2 = DIAGONAL(at2), b3 = DIAGONAL(at3);
    Real u0 = upper[at], u1 = upper[at1], u2 = upper[at2], u3 = upper[at3];
    Real d0 = right[at], d1 = right[at1], d2 = right[at2], d3 = right[at3];
    int equation = part + k * parts;
    FORWARD(l0, b0, u0, d0, at, equation)
    FORWARD(l1, b1, u1, d1, at1, equation + parts)
    FORWARD(l2, b2, u2, d2, at2, equation + 2 * parts)
    FORWARD(l3, b3, u3, d3, at3, equation + 3 * parts)
    at = at3 + step;
  }
  for (; k < equations; ++k, at += step) {
    Real l = lower[at], b = DIAGONAL(at), u = upper[at], d = right[at];
    FORWARD(l, b, u, d, at, part + k * parts)
  }

  at -= 2 * step;
  k = equations - 1;
  for (; k >= 4; k -= 4) {
    int at1 = at - step, at2 = at1 - step, at3 = at2 - step;
    Real m0 = multipliers[at], m1 = multipliers[at1], m2 = multipliers[at2], m3 = multipliers[at3];
    Real x0 = solution[at], x1 = solution[at1], x2 = solution[at2], x3 = solution[at3];
    BACKWARD(at, m0, x0)
    BACKWARD(at1, m1, x1)
    BACKWARD(at2, m2, x2)
    BACKWARD(at3, m3, x3)
    at = at3 - step;
  }
  for (; k > 0; --k, at -= step) {
    Real m = multipliers[at], x = solution[at];
    BACKWARD(at, m, x)
  }
}

void main() {
  int id = int(gl_GlobalInvocationID.x), invocations = int(gl_NumWorkGroups.x * gl_WorkGroupSize.x);
  for (; id < count.x * parts; id += invocations) solve(id / parts, id % parts);
}
