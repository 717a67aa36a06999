#version 450 core
// Sums over the elements of a part of a matrix. Each element is made here, used once, and never stored.
//
// MXP 0: HPL's random matrix. Row i has a jump, an affine map of 64 bits, and column j a state: what the one makes of
// the other is the element's number in HPL's sequence. So all elements are independent.
// MXP 1: MxpElement (src/local/base/matrix_product.hpp). Rows and columns have their numbers.
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

#if MXP
#define Row int
#define Column int
#else
#define Row uvec4     // multiplier, increment of the jump: each its low and its high half
#define Column uvec2  // low, high half of the state
#endif
layout(std430, binding = 0) readonly restrict buffer Rows { Row rows[]; };
layout(std430, binding = 1) readonly restrict buffer Columns { Column columns[]; };
layout(std430, binding = 2) readonly restrict buffer Factor { double factor[]; };
layout(std430, binding = 3) writeonly restrict buffer Result { double result[]; };  // MAGNITUDES: sums, then the largest

UNIFORMS
UNIFORM(0, ivec2) extents;  // lines, elements of each
UNIFORM(1, int) first_line;
UNIFORM(2, ivec2) alpha_bits;  // MXP
UNIFORM(3, ivec2) beta_bits;
UNIFORM(4, ivec2) product_bits;  // of alpha beta
END_UNIFORMS

#if BY_COLUMN
#define Line Column
#define Across Row
#define line_table columns
#define across_table rows
#define ELEMENT(line, across) element(across, line)
#else
#define Line Row
#define Across Column
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

#if MXP
double generated(int row, int column) {
  double below = packDouble2x32(uvec2(alpha_bits)), above = packDouble2x32(uvec2(beta_bits));
  precise double product = packDouble2x32(uvec2(product_bits)) * double(min(row, column));
  precise double value = product + (row == column ? 1.0LF : row > column ? -below : -above);
  return value;
}
#else
double generated(uvec4 jump, uvec2 state) {
  uint low, high, carry;
  umulExtended(jump.x, state.x, high, low);
  low = uaddCarry(low, jump.z, carry);
  high += carry + jump.w + jump.x * state.y + jump.y * state.x;
  // as hpl_value(): powers of two are exact, so that it does not matter whether additions are fused to them
  const double scale = 2.3283064365386962890625e-10LF;  // 2^-32
  return 0.5LF - (double(low) * scale + double(high)) * scale;
}
#endif

double element(Row row, Column column) {
  // precise: without it, Mesa 25 leaves out the conversion to single precision and back
  precise double value = generated(row, column);
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
