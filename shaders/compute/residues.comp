#version 450 core
// Packs the residues of an operand, as residues.glsl says. An invocation has 16 numbers of a column. All arithmetic is
// of integers. RIGHT: the operand is U, whose residues carry (P / p)^-1 modulo p, P the product of the moduli.
#include "compute/place.glsl"
#include "compute/residues.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer From { double from[]; };
layout(std430, binding = 1) readonly restrict buffer Exponents { int any_unusable; int exponents[]; };
layout(std430, binding = 2) writeonly restrict buffer Packed { uvec4 packed_bytes[]; };
layout(std430, binding = 3) readonly restrict buffer Table { uvec4 table[]; };

UNIFORMS
UNIFORM(0, ivec4) extents;  // depth, columns; in fragments, with padding: columns, depth
UNIFORM(1, ivec4) from_layout;
END_UNIFORMS

int column_of(int place) {
#if RIGHT
  return (place >> 1 & 3) * 4 + (place >> 3) * 2 + (place & 1);
#else
  return place;
#endif
}

// m 2^shift, to the nearest whole number.
uvec2 shifted(uvec2 m, int shift) {
  if (shift == 0) return m;
  if (shift > 0) return uvec2(m.x << shift, m.y << shift | m.x >> (32 - shift));
  int right = -shift - 1;  // then one more, which rounds
  if (right > 53) return uvec2(0);
  if (right >= 32) {
    m = uvec2(m.y >> (right - 32), 0);
  } else if (right > 0) {
    m = uvec2(m.x >> right | m.y << (32 - right), m.y >> right);
  }
  m.y += uint(m.x == 0xffffffffu);
  m.x += 1u;
  return uvec2(m.x >> 1 | m.y << 31, m.y >> 1);
}

// Congruent to x, below 2 p.
uint reduced(uint x, uint p, uint reciprocal) {
  uint high, low;
  umulExtended(x, reciprocal, high, low);
  return x - high * p;
}

void main() {
  int thread = int(gl_LocalInvocationIndex), element = thread % 32;
  int id = int(gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 8 + thread / 32;
  int fragment = id % extents.z, along = id / extents.z;
  if (along >= extents.w) return;
  int column = fragment * 16 + column_of(element / 16 * 8 + element % 8);
  int first_k = along * 32 + element / 8 % 2 * 16;
  int exponent = column < extents.y ? exponents[column] : ZERO;
  uint low[16], high[16], signs = 0;
  UNROLL for (int i = 0; i < 16; ++i) {
    uvec2 whole = uvec2(0);
    if (exponent < ZERO && first_k + i < extents.x) {
      uvec2 bits = unpackDouble2x32(from[place(from_layout, first_k + i, column)]);
      int biased = int(bits.y >> 20 & 2047u);
      uvec2 mantissa = uvec2(bits.x, (bits.y & 0xfffffu) | (biased > 0 ? 0x100000u : 0u));
      whole = shifted(mantissa, max(biased, 1) - 1075 + SCALE_BITS - exponent);
      signs |= bits.y >> 31 << i;
    }
    low[i] = whole.x;
    high[i] = whole.y;
  }
  for (int modulus = 0; modulus < MODULI; ++modulus) {
    uvec4 m = table[2 * modulus];  // p, floor(2^32 / p)
#if RIGHT
    uvec2 factors = table[2 * modulus + 1].zw;
#else
    uvec2 factors = table[2 * modulus + 1].xy;
#endif
    uvec4 words = uvec4(0);
    UNROLL for (int i = 0; i < 16; ++i) {
      uint r = reduced(low[i], m.x, m.y) * factors.x + reduced(high[i], m.x, m.y) * factors.y;
      r = reduced(r, m.x, m.y);
      r -= r >= m.x ? m.x : 0u;
      int residue = int(r) - (2u * r >= m.x ? int(m.x) : 0);
      residue = (signs >> i & 1u) != 0u ? -residue : residue;  // 128 of 256 becomes -128
      words[i / 4] |= (uint(residue) & 255u) << i % 4 * 8;
    }
    packed_bytes[(((fragment / BLOCK * MODULI + modulus) * extents.w + along) * BLOCK + fragment % BLOCK) * 32 +
                 element] = words;
  }
}
