// What the kernels of conjugate gradients for the elliptic test problem have in common (src/local/solvers/poisson/poisson_cg.hpp).
//
// A scalar product is not finished by the kernel that computes it: each of its work groups leaves its part of the sum,
// and each work group of the next kernel adds the parts up, all in the same order. So an iteration is two dispatches,
// and none of its scalars passes through the host.
//
// Variants: DOUBLE 0 or 1; MULTIGRID 0: z = r; 1: a V-cycle's z stands where r does otherwise, and r . z has parts of its
// own.
layout(local_size_x = 256) in;

#include "compute/precision.glsl"
#include "solvers/group_sum.glsl"

layout(std430, binding = 0) buffer Scalars {
  double squared_tolerance;
  double residual_square[];  // r . r before iteration k
};
layout(std430, binding = 1) readonly restrict buffer Parts { double parts[]; };          // of the sum to begin with
layout(std430, binding = 2) writeonly restrict buffer NewParts { double new_parts[]; };  // one a work group

#if MULTIGRID
layout(std430, binding = 7) buffer Products { double product[]; };  // r . z of iteration k
#endif

layout(location = 0) uniform ivec4 layout_of_rows;  // n, ROW_PITCH, rows, rows that an invocation takes at a time
layout(location = 1) uniform ivec4 step_of_kernel;  // iteration, count of parts, where new parts begin, parts of r . z
layout(location = 2) uniform ivec2 row_range;       // of the strip's rows: first, last + 1

#define N layout_of_rows.x
#define ROW_PITCH layout_of_rows.y  // from row to row, in what an invocation takes: vectors or elements
#define ROWS layout_of_rows.z
#define BLOCK_ROWS layout_of_rows.w
#define ITERATION step_of_kernel.x

double sum_of_parts(int begin, int count) {
  double sum = 0.0;
  for (int part = begin + int(gl_LocalInvocationIndex); part < begin + count; part += 256) sum += parts[part];
  return sum_of_group(sum);
}

void leave_part(Real mine) {
  double sum = sum_of_group(double(mine));
  if (gl_LocalInvocationIndex == 0) new_parts[step_of_kernel.z + int(gl_WorkGroupID.x)] = sum;
}

/// What iteration k of p <- z + beta p begins with: beta; false where ||r|| is within the tolerance.
bool begin_direction(out Real beta) {
  double square = sum_of_parts(0, step_of_kernel.y);
  double first_square = ITERATION == 0 ? square : residual_square[0];
  if (gl_GlobalInvocationID.x == 0) residual_square[ITERATION] = square;
#if MULTIGRID
  double new_product = sum_of_parts(step_of_kernel.y, step_of_kernel.w);
  if (gl_GlobalInvocationID.x == 0) product[ITERATION] = new_product;
  beta = ITERATION == 0 ? Real(0.0) : Real(new_product / product[ITERATION - 1]);
#else
  beta = ITERATION == 0 ? Real(0.0) : Real(square / residual_square[ITERATION - 1]);
#endif
  return square > squared_tolerance * first_square;
}

/// The same for u <- u + alpha p and r <- r - alpha A p.
bool begin_update(out Real alpha) {
  double curvature = sum_of_parts(0, step_of_kernel.y), square = residual_square[ITERATION];
#if MULTIGRID
  alpha = Real(product[ITERATION] / curvature);
#else
  alpha = Real(square / curvature);
#endif
  return square > squared_tolerance * residual_square[0];
}
