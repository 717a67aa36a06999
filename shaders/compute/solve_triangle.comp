#version 450 core
// X <- T^-1 X by substitution, for a triangle T of up to MAX_ROWS rows. The other triangle of T is not read. A work
// group solves for one column of X, a block of SIDE unknowns after the other:
//   - LANES invocations to a row multiply T by the unknowns that are known.
//   - The first subgroup solves with the block's triangle. Meanwhile the others multiply the next block's rows by the
//     unknowns before this block, and read the elements that they multiply by this block's.
//
// Variants:
//   UPPER      upper triangle, last unknown first; otherwise unit lower, whose diagonal is not read
//   SUBGROUPS  at least SIDE invocations in a subgroup, which exchanges unknowns; otherwise one invocation solves
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#define SIDE 32
#define LANES 16
#define THREADS (SIDE + SIDE * LANES)

layout(local_size_x = THREADS) in;

layout(std430, binding = 0) readonly restrict buffer Triangle { Real triangle[]; };
layout(std430, binding = 1) restrict buffer Unknowns { Real unknowns[]; };

UNIFORMS
UNIFORM(0, int) rows;
UNIFORM(1, ivec4) triangle_layout;
UNIFORM(2, ivec4) unknowns_layout;
END_UNIFORMS

shared Real x[MAX_ROWS + SIDE];              // 0 beyond the last row
shared Real block[SIDE * (SIDE + 1)];        // the triangle of the block to solve, by rows a bank apart
shared Real products[SIDE * (LANES + 1)];    // of its rows, by lane

#if UPPER
#define IN_TRIANGLE(i, j) ((i) <= (j))
#else
#define IN_TRIANGLE(i, j) ((i) > (j))
#endif

Real element(int i, int j) {
  return IN_TRIANGLE(i, j) && max(i, j) < rows ? triangle[place(triangle_layout, i, j)] : Real(0);
}

// The part of row i times the unknowns [begin, end), every LANES-th of them. Sixteen reads do not wait for each other;
// beyond the end, the last element is read again.
#define READ(n, t) Real t = triangle[place(triangle_layout, i, min(k + n * LANES, end - 1))];
#define ADD(n, t) if (k + n * LANES < end) sum = fma(t, x[k + n * LANES], sum);
#define SIXTEEN(f)                                                                        \
  f(0, t0) f(1, t1) f(2, t2) f(3, t3) f(4, t4) f(5, t5) f(6, t6) f(7, t7) f(8, t8) f(9, t9) \
  f(10, t10) f(11, t11) f(12, t12) f(13, t13) f(14, t14) f(15, t15)
Real product(int i, int begin, int end, int lane) {
  Real sum = Real(0);
  if (i < rows) {
    for (int k = begin + lane; k < end; k += 16 * LANES) {
      SIXTEEN(READ)
      SIXTEEN(ADD)
    }
  }
  return sum;
}

Real right_hand_side(int first, int row) {
  Real value = x[first + row];
  for (int lane = 0; lane < LANES; ++lane) value -= products[row * (LANES + 1) + lane];
  return value;
}

void solve_block(int first) {
#if SUBGROUPS
  if (gl_SubgroupID != 0) return;
  int row = min(int(gl_SubgroupInvocationID), SIDE - 1);
  Real value = right_hand_side(first, row);
#if UPPER
  Real pivot = first + row < rows ? block[row * (SIDE + 1) + row] : Real(1);
#else
  const Real pivot = Real(1);
#endif
  for (int step = 0; step < SIDE; ++step) {
    int column = UPPER != 0 ? SIDE - 1 - step : step;
    Real known = subgroupShuffle(value / pivot, uint(column));
    if (IN_TRIANGLE(row, column) && row != column) value = fma(-block[row * (SIDE + 1) + column], known, value);
  }
  if (int(gl_SubgroupInvocationID) < SIDE && first + row < rows) x[first + row] = value / pivot;
#else
  if (gl_LocalInvocationIndex != 0) return;
  int count = min(SIDE, rows - first);
  for (int step = 0; step < count; ++step) {
    int row = UPPER != 0 ? count - 1 - step : step;
    Real value = right_hand_side(first, row);
    for (int before = 0; before < step; ++before) {
      int column = UPPER != 0 ? count - 1 - before : before;
      value = fma(-block[row * (SIDE + 1) + column], x[first + column], value);
    }
#if UPPER
    value /= block[row * (SIDE + 1) + row];
#endif
    x[first + row] = value;
  }
#endif
}

void main() {
  int thread = int(gl_LocalInvocationIndex);
  int column = int(gl_WorkGroupID.x);
  for (int i = thread; i < MAX_ROWS + SIDE; i += THREADS) {
    x[i] = i < rows ? unknowns[place(unknowns_layout, i, column)] : Real(0);
  }
  bool multiplies = thread >= SIDE;
  int row = (thread - SIDE) / LANES, lane = (thread - SIDE) % LANES;

  int last = (rows - 1) / SIDE * SIDE;
  int step = UPPER != 0 ? -SIDE : SIDE;
  int first = UPPER != 0 ? last : 0;
  int solved = -1;  // the block solved last
  Real sum = Real(0), solved_a = Real(0), solved_b = Real(0);
  Real own_a = element(first + row, first + lane), own_b = element(first + row, first + lane + LANES);
  // NVIDIA's driver 580 sums wrongly for lower triangles if the condition is one of `first`.
  for (int pass = 0; pass <= last / SIDE; ++pass, first += step) {
    barrier();  // x has the last block's unknowns
    if (multiplies) {
      if (solved >= 0) {
        sum = fma(solved_a, x[solved + lane], sum);
        sum = fma(solved_b, x[solved + lane + LANES], sum);
      }
      products[row * (LANES + 1) + lane] = sum;
      block[row * (SIDE + 1) + lane] = own_a;
      block[row * (SIDE + 1) + lane + LANES] = own_b;
    }
    barrier();
    solve_block(first);
    if (multiplies) {
      int i = first + step + row;
      if (i >= 0) {
        solved_a = element(i, first + lane);
        solved_b = element(i, first + lane + LANES);
        own_a = element(i, first + step + lane);
        own_b = element(i, first + step + lane + LANES);
        sum = UPPER != 0 ? product(i, first + SIDE, rows, lane) : product(i, 0, first, lane);
      }
    }
    solved = first;
  }
  barrier();
  for (int i = thread; i < rows; i += THREADS) unknowns[place(unknowns_layout, i, column)] = x[i];
}
