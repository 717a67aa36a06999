#version 450
// P A = L U by Doolittle's method (coprocessor paper, 4.3), and its solution, L and U taking the place of A in one
// texture. Elements of L's diagonal, all 1, are not stored.
//
// Variants: BLOCK, COMPUTE, DOUBLE, and STEP, of which 1 and 2 draw into a texture of two rows, the others where they read:
//   1 copy           `source`                                           first: the texel
//   2 upper          the pivot row S, of whose block P the lower row is reduced, too: rows of U; left of P it is
//                    L, and stays                                       first: S   second: P
//   3 multipliers    a block R below the pivot: R U_kk^-1               first: R   second: U_kk
//   4 reduce         R - L U                                            first: R   second: L     third: U
// Right-hand sides `source` with the factors `factors`, B_k being the rows of step k as they were before its own step:
//   5 forward        rows B below: B - L (L_kk^-1 B_k)                  first: B   second: L     third: B_k
//   6 forward end    all rows: L_yy^-1 B                                first: B   second: L_yy
//   7 backward       rows B above: B - U (U_kk^-1 B_k)                  first: B   second: U     third: B_k
//   8 backward end   all rows: U_yy^-1 B                                first: B   second: U_yy

#include "solvers/block.glsl"
#define Texel Block
#define CHANNELS BLOCK_CHANNELS
#include "solvers/texel.glsl"

layout(binding = 0) uniform Blocks source;
layout(binding = 1) uniform Blocks factors;

#if STEP == 2
Block upper_row(Block pivot, Block row) {
#if BLOCK == 2
  // implicit tests instead of branches, as the paper has them
  Real multiplier = factored(pivot).b, among_upper = Real(first.x >= second.x), leading = Real(first.x == second.x);
  Pair below = row.ba - among_upper * multiplier * row.rg;
  return Quad(row.rg, mix(below.x, multiplier, leading), below.y);
#else
  return row;
#endif
}
#endif

Texel texel() {
  Block old = block_at(source, first);
#if STEP == 1
  return old;
#elif STEP == 2
  return upper_row(block_at(source, second), old);
#elif STEP == 3
  return right_solved(block_at(source, second), old);
#elif STEP == 4
  return reduced(old, block_at(source, second), block_at(source, third));
#elif STEP == 5 || STEP == 7
  Block of_step = block_at(source, third), step_factors = block_at(factors, ivec2(second.x));
  Block multiplied = block_at(factors, second);
#if STEP == 5
  return reduced(old, multiplied, lower_solved(step_factors, of_step));
#else
  return reduced(old, multiplied, upper_solved(step_factors, of_step));
#endif
#elif STEP == 6
  return lower_solved(block_at(factors, second), old);
#else
  return upper_solved(block_at(factors, second), old);
#endif
}
