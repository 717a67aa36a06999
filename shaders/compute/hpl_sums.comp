#version 450 core
// Sums over the elements of a part of HPL's random matrix. Each element is made here, used once, and never stored.
//
// Row i has a jump, an affine map of 64 bits, and column j a state: what the one makes of the other is the element's
// number in HPL's sequence. So all elements are independent.
//
// BY_COLUMN 0: of each row; 1: of each column. MAGNITUDES 0: of a_ij x_j; 1: of |a_ij|, and their largest.
// ROUNDED 1: of the elements in single precision.
//
// A work group sums LINES rows (columns), an invocation every LANES-th of a line's elements. What these need of the
// columns (rows) goes through shared memory, a stage at a time. The order of a line's sum is always the same.

#define LINES 32
#define LANES 8
#define STAGE (LINES * LANES)

#include "compute/uniforms.glsl"

layout(local_size_x = LINES, local_size_y = LANES) in;

#define Jump uvec4   // multiplier, increment: each its low and its high half
#define State uvec2  // low, high half
layout(std430, binding = 0) readonly restrict buffer Rows { Jump rows[]; };
layout(std430, binding = 1) readonly restrict buffer Columns { State columns[]; };
layout(std430, binding = 2) readonly restrict buffer Factor { double factor[]; };
layout(std430, binding = 3) writeonly restrict buffer Result { double result[]; };  // MAGNITUDES: sums, then the largest

UNIFORMS
UNIFORM(0, ivec2) extents;  // lines, elements of each
UNIFORM(1, int) first_line;
END_UNIFORMS

#if BY_COLUMN
#define Line State
#define Across Jump
#define line_table columns
#define across_table rows
#define ELEMENT(line, across) element(across, line)
#else
#define Line Jump
#define Across State
#define line_table rows
#define across_table columns
#define ELEMENT(line, across) element(line, across)
#endif

shared Across across[STAGE];
shared double weight[STAGE];
shared double partial[STAGE];
#if MAGNITUDES
shared double partial_largest[STAGE];
#endif

double element(Jump jump, State state) {
  uint low, high, carry;
  umulExtended(jump.x, state.x, high, low);
  low = uaddCarry(low, jump.z, carry);
  high += carry + jump.w + jump.x * state.y + jump.y * state.x;
  // as hpl_value(): powers of two are exact, so that it does not matter whether additions are fused to them
  const double scale = 2.3283064365386962890625e-10LF;  // 2^-32
  // precise: without it, Mesa 25 leaves out the conversion to single precision and back
  precise double value = 0.5LF - (double(low) * scale + double(high)) * scale;
#if ROUNDED
  value = double(float(value));
#endif
#if MAGNITUDES
  value = abs(value);
#endif
  return value;
}

void main() {
  int x = int(gl_LocalInvocationID.x);
  int lane = int(gl_LocalInvocationID.y);
  int own = lane * LINES + x;
  int line = first_line + int(gl_WorkGroupID.x) * LINES + x;
  Line mine = line_table[min(line, extents.x - 1)];
  double sum = 0.0LF;
  double largest = 0.0LF;
  for (int first = 0; first < extents.y; first += STAGE) {
    int staged = first + own;
    bool inside = staged < extents.y;
    barrier();
    across[own] = across_table[min(staged, extents.y - 1)];
#if MAGNITUDES
    weight[own] = inside ? 1.0LF : 0.0LF;
#else
    weight[own] = inside ? factor[staged] : 0.0LF;
#endif
    barrier();
    for (int k = lane; k < STAGE; k += LANES) {
      double value = ELEMENT(mine, across[k]);
      sum = fma(value, weight[k], sum);
#if MAGNITUDES
      largest = max(largest, value * weight[k]);
#endif
    }
  }
  partial[own] = sum;
#if MAGNITUDES
  partial_largest[own] = largest;
#endif
  barrier();
  if (lane > 0 || line >= extents.x) return;
  for (int k = 1; k < LANES; ++k) {
    sum += partial[k * LINES + x];
#if MAGNITUDES
    largest = max(largest, partial_largest[k * LINES + x]);
#endif
  }
  result[line] = sum;
#if MAGNITUDES
  result[extents.x + line] = largest;
#endif
}
