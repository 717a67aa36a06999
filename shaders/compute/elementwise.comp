#version 450 core
// to <- alpha a + beta b, alpha a + beta, a b, or a / b, element by element. A work group takes 512 columns of one row.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer A { Real a[]; };
layout(std430, binding = 1) readonly buffer B { Real b[]; };
layout(std430, binding = 2) writeonly restrict buffer To { Real to[]; };

UNIFORMS
UNIFORM(0, int) columns;
UNIFORM(1, ivec4) a_layout;
UNIFORM(2, ivec4) b_layout;
UNIFORM(3, ivec4) to_layout;
UNIFORM(4, int) operation;
UNIFORM(5, ivec2) alpha_bits;  // of a double
UNIFORM(6, ivec2) beta_bits;
END_UNIFORMS

void main() {
  int row = int(gl_WorkGroupID.y);
  int column = int(gl_WorkGroupID.x) * 512 + int(gl_LocalInvocationID.x);
  Real alpha = Real(packDouble2x32(uvec2(alpha_bits)));
  Real beta = Real(packDouble2x32(uvec2(beta_bits)));
  for (int part = 0; part < 4; ++part, column += 128) {
    if (column >= columns) continue;
    Real left = a[place(a_layout, row, column)];
    Real right = operation == 1 ? Real(1) : b[place(b_layout, row, column)];
    Real value = alpha * left + beta * right;
    if (operation == 2) value = left * right;
    if (operation == 3) value = left / right;
    to[place(to_layout, row, column)] = value;
  }
}
