// What the kernels of conjugate gradients for the elliptic test problem have in common (src/local/poisson_strip.hpp).
//
// A scalar product is not finished by the kernel that computes it: each of its work groups leaves its part of the sum,
// and each work group of the next kernel adds the parts up, all in the same order. So an iteration is two dispatches,
// and none of its scalars passes through the host.
//
// Variants: DOUBLE 0 or 1.
layout(local_size_x = 256) in;

#include "compute/precision.glsl"

layout(std430, binding = 0) buffer Scalars {
  double squared_tolerance;
  double residual_square[];  // r . r before iteration k
};
layout(std430, binding = 1) readonly restrict buffer Parts { double parts[]; };          // of the sum to begin with
layout(std430, binding = 2) writeonly restrict buffer NewParts { double new_parts[]; };  // one a work group

layout(location = 0) uniform ivec4 layout_of_rows;  // n, ROW_PITCH, rows, rows that an invocation takes at a time
layout(location = 1) uniform ivec4 step_of_kernel;  // iteration, count of parts, where new parts begin
layout(location = 2) uniform ivec2 row_range;       // of the strip's rows: first, last + 1

#define N layout_of_rows.x
#define ROW_PITCH layout_of_rows.y  // from row to row, in what an invocation takes: vectors or elements
#define ROWS layout_of_rows.z
#define BLOCK_ROWS layout_of_rows.w
#define ITERATION step_of_kernel.x

shared double sums[256];

/// The sum over the work group, for all of its invocations.
double sum_of_group(double mine) {
  int id = int(gl_LocalInvocationIndex);
  barrier();
  sums[id] = mine;
  for (int half_size = 128; half_size > 0; half_size /= 2) {
    barrier();
    if (id < half_size) sums[id] += sums[id + half_size];
  }
  barrier();
  return sums[0];
}

double sum_of_parts() {
  double sum = 0.0;
  for (int part = int(gl_LocalInvocationIndex); part < step_of_kernel.y; part += 256) sum += parts[part];
  return sum_of_group(sum);
}

void leave_part(Real mine) {
  double sum = sum_of_group(double(mine));
  if (gl_LocalInvocationIndex == 0) new_parts[step_of_kernel.z + int(gl_WorkGroupID.x)] = sum;
}

/// What iteration k of p <- r + beta p begins with: beta; false where ||r|| is within the tolerance.
bool begin_direction(out Real beta) {
  double square = sum_of_parts();
  double first_square = ITERATION == 0 ? square : residual_square[0];
  if (gl_GlobalInvocationID.x == 0) residual_square[ITERATION] = square;
  beta = ITERATION == 0 ? Real(0.0) : Real(square / residual_square[ITERATION - 1]);
  return square > squared_tolerance * first_square;
}

/// The same for u <- u + alpha p and r <- r - alpha A p.
bool begin_update(out Real alpha) {
  double curvature = sum_of_parts(), square = residual_square[ITERATION];
  alpha = Real(square / curvature);
  return square > squared_tolerance * residual_square[0];
}
