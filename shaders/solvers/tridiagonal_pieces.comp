#version 450 core
// Tridiagonal systems, a piece of a system an invocation, a system's pieces in one work group, everything in registers:
// the equations are read once and the solution is written once. What is left of a piece, one equation in its first
// unknown, is solved together with the other pieces' by parallel cyclic reduction in shared memory.
//
// Variants: DOUBLE, NORMALIZED: 0 or 1. PIECES: the most that a system has, a power of two. SYSTEMS: of a work group.
layout(local_size_x = PIECES, local_size_y = SYSTEMS) in;

#include "compute/precision.glsl"

layout(std430, binding = 6) restrict buffer Status { int status[]; };
#include "solvers/tridiagonal_status.glsl"
#include "solvers/tridiagonal_piece.glsl"

layout(std430, binding = 4) writeonly restrict buffer Solution { Four solution[]; };
layout(location = 0) uniform ivec2 count;  // systems, pieces of each

shared Real lower_of[PIECES * SYSTEMS];
shared Real upper_of[PIECES * SYSTEMS];
shared Real right_of[PIECES * SYSTEMS];

void share(int at, Real l, Real u, Real d) {
  barrier();  // everybody has read what was there
  lower_of[at] = l;
  upper_of[at] = u;
  right_of[at] = d;
  barrier();
}

void main() {
  int piece = int(gl_LocalInvocationID.x), system = int(gl_GlobalInvocationID.y);
  int here = int(gl_LocalInvocationIndex);
  bool present = piece < count.y && system < count.x;
  int at = 4 * (system * count.y + piece);
  clear_piece();
  if (present) load_piece(at);
  reduce_piece(system, 16 * piece);

  // the first equation without the last unknowns, its own and that of the piece before
  share(here, L15, U15, D15);
  Real l = 0.0, u = 0.0, d = 0.0;
  if (piece > 0) {
    l = lower_of[here - 1];
    u = upper_of[here - 1];
    d = right_of[here - 1];
  }
  Real pivot = Real(1.0) - L0 * u - U0 * L15;
  CHECK(pivot, 16 * piece)
  l = -L0 * l / pivot;
  u = -U0 * U15 / pivot;
  d = (D0 - L0 * d - U0 * D15) / pivot;

  for (int distance_now = 1; distance_now < PIECES; distance_now *= 2) {
    share(here, l, u, d);
    Real before_l = 0.0, before_u = 0.0, before_d = 0.0, after_l = 0.0, after_u = 0.0, after_d = 0.0;
    if (piece >= distance_now) {
      before_l = lower_of[here - distance_now];
      before_u = upper_of[here - distance_now];
      before_d = right_of[here - distance_now];
    }
    if (piece + distance_now < PIECES) {
      after_l = lower_of[here + distance_now];
      after_u = upper_of[here + distance_now];
      after_d = right_of[here + distance_now];
    }
    pivot = Real(1.0) - l * before_u - u * after_l;
    CHECK(pivot, 16 * piece)
    d = (d - l * before_d - u * after_d) / pivot;
    l = -l * before_l / pivot;
    u = -u * after_u / pivot;
  }

  share(here, l, u, d);
  Real after = piece + 1 < PIECES ? right_of[here + 1] : Real(0.0);
  solve_piece(d, D15 - L15 * d - U15 * after);
  if (present) {
    solution[at] = right_0;
    solution[at + 1] = right_1;
    solution[at + 2] = right_2;
    solution[at + 3] = right_3;
  }
}
