#version 450 core
// Tridiagonal systems too long for a work group, level by level, a piece an invocation.
//
// Variants: DOUBLE, NORMALIZED: 0 or 1. EXPAND 0: two equations are left of every piece of sixteen, in its first and its
// last unknown; they form a smaller tridiagonal system with 1 on the diagonal. 1: with that one's solution, all unknowns
// of the piece.
layout(local_size_x = 128) in;

#include "compute/precision.glsl"

layout(std430, binding = 6) restrict buffer Status { int status[]; };
#include "solvers/tridiagonal_status.glsl"
#include "solvers/tridiagonal_piece.glsl"

#if DOUBLE
#define Two dvec2
#else
#define Two vec2
#endif

// two equations, or unknowns, a piece
#if EXPAND
layout(std430, binding = 4) writeonly restrict buffer Solution { Four solution[]; };
layout(std430, binding = 5) readonly restrict buffer Ends { Two ends[]; };
#else
layout(std430, binding = 4) writeonly restrict buffer ReducedLower { Two reduced_lower[]; };
layout(std430, binding = 5) writeonly restrict buffer ReducedUpper { Two reduced_upper[]; };
layout(std430, binding = 7) writeonly restrict buffer ReducedRight { Two reduced_right[]; };
#endif
layout(location = 0) uniform ivec2 count;      // systems, pieces of each
layout(location = 1) uniform int end_stride;  // pairs of equations of a system of the next level, padding included

void treat(int system, int piece) {
  int at = 4 * (system * count.y + piece), end = system * end_stride + piece;
  clear_piece();
  if (piece < count.y) {
    load_piece(at);
    reduce_piece(system, 16 * piece);
  }
#if EXPAND
  solve_piece(ends[end].x, ends[end].y);
  solution[at] = right_0;
  solution[at + 1] = right_1;
  solution[at + 2] = right_2;
  solution[at + 3] = right_3;
#else
  reduced_lower[end] = Two(L0, L15);
  reduced_upper[end] = Two(U0, U15);
  reduced_right[end] = Two(D0, D15);
#endif
}

void main() {
  int pieces = EXPAND == 1 ? count.y : end_stride;
  int invocations = int(gl_NumWorkGroups.x * gl_WorkGroupSize.x);
  for (int piece = int(gl_GlobalInvocationID.x); piece < pieces; piece += invocations) {
    treat(int(gl_GlobalInvocationID.y), piece);
  }
}
