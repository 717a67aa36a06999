#version 450 core
// One operation on operands from memory, an invocation for each (src/local/solvers/paranoia/device_arithmetic.hpp). The preamble
// defines EXPRESSION, of a, b, c. `precise`, and nothing around it that it could be contracted with: the result is that
// of the operation as the shading language has it.
#include "compute/precision.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly restrict buffer First { Real all_a[]; };
layout(std430, binding = 1) readonly restrict buffer Second { Real all_b[]; };
layout(std430, binding = 2) readonly restrict buffer Third { Real all_c[]; };
layout(std430, binding = 3) writeonly restrict buffer Results { Real results[]; };

void main() {
  uint at = gl_GlobalInvocationID.x;
  Real a = all_a[at], b = all_b[at], c = all_c[at];
  precise Real result = EXPRESSION;
  results[at] = result;
}
