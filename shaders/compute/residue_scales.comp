#version 450 core
// The exponent of each column of an operand: its 2-norm, about. Scaled by 2^(SCALE_BITS - exponent) the norm is at most
// 2^BOUND_BITS, so that products of whole columns stay below half the product of the moduli (Cauchy and Schwarz).
#include "compute/place.glsl"
#include "compute/residues.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer From { double from[]; };
layout(std430, binding = 1) restrict buffer Exponents { int any_unusable; int exponents[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;  // depth, columns
UNIFORM(1, ivec4) from_layout;
END_UNIFORMS

// A sum of squares for each of 16 columns and 16 parts of the depth, in units of 4^largest.
shared int largest[256];
shared float squares[256];

float power_of_two(int exponent) { return exponent < -100 ? 0.0 : ldexp(1.0, exponent); }

void main() {
  int t = int(gl_LocalInvocationIndex), column = int(gl_WorkGroupID.x) * 16 + t % 16;
  int top = 0;
  float sum = 0;
  for (int k = t / 16; k < extents.x && column < extents.y; k += 16) {
    uvec2 bits = unpackDouble2x32(from[place(from_layout, k, column)]);
    int exponent = int(bits.y >> 20 & 2047u);
    if ((bits.x | (bits.y & 0x7fffffffu)) == 0u) continue;
    if (exponent > top) {
      sum *= power_of_two(2 * (top - exponent));
      top = exponent;
    }
    float x = float((bits.y & 0xfffffu) + 0x100001u) * power_of_two(exponent - top - 20);  // rounded up
    sum += x * x;
  }
  largest[t] = top;
  squares[t] = sum;
  barrier();
  if (t >= 16 || column >= extents.y) return;
  for (int part = 1; part < 16; ++part) top = max(top, largest[part * 16 + t]);
  sum = 0;
  for (int part = 0; part < 16; ++part) {
    sum += squares[part * 16 + t] * power_of_two(2 * (largest[part * 16 + t] - top));
  }
  int exponent = ZERO;
  if (sum > 0) {
    exponent = SCALE_BITS - int(floor(BOUND_BITS - 0.5 * log2(sum))) + top - 1023;
    if (abs(top - 1023) > 500) {  // products of two columns' scales are normal numbers otherwise
      exponent = UNUSABLE;
      any_unusable = 1;
    }
  }
  exponents[column] = exponent;
}
