#version 450 core
// Products of residues on devices without matrices of bytes: the remainders of a tile of C for each modulus.
#include "compute/residues.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer Left { uvec4 left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { uvec4 right[]; };
layout(std430, binding = 2) writeonly restrict buffer Remainders { uvec4 remainders[]; };
layout(std430, binding = 3) readonly restrict buffer Table { uvec4 table[]; };

UNIFORMS
UNIFORM(1, ivec4) tiles;    // rows and columns of tiles; the first ones of L and U
UNIFORM(2, ivec4) extents;  // of C from the first tile on: rows, columns; depth in fragments
END_UNIFORMS

int dot16(uvec4 a, uvec4 b) {
  int sum = 0;
  for (int w = 0; w < 4; ++w) {
    for (int s = 0; s < 32; s += 8) sum += bitfieldExtract(int(a[w]), s, 8) * bitfieldExtract(int(b[w]), s, 8);
  }
  return sum;
}

void main() {
  int element = int(gl_WorkGroupID.x * 256u + gl_LocalInvocationIndex);
  int tile = int(gl_WorkGroupID.y) / MODULI, modulus = int(gl_WorkGroupID.y) % MODULI;
  ivec2 in_tile = corner_of(element), at = ivec2(tile / tiles.y, tile % tiles.y);
  ivec2 corner = in_tile + at * ivec2(TILE_ROWS, TILE_COLUMNS);
  if (corner.x >= extents.x || corner.y >= extents.y) return;
  at += tiles.zw;
  int row = in_tile.x % 16, quad = in_tile.y % 16 / 4;
  int sums[16];
  for (int i = 0; i < 16; ++i) sums[i] = 0;
  for (int l = 0; l < extents.z; ++l) {
    int from_left = (((at.x * MODULI + modulus) * extents.z + l) * 8 + in_tile.x / 16) * 32;
    int from_right = (((at.y * MODULI + modulus) * extents.z + l) * 16 + in_tile.y / 16) * 32;
    for (int h = 0; h < 16; h += 8) {
      uvec4 upper = left[from_left + h + row], lower = left[from_left + 16 + h + row];
      for (int c = 0; c < 8; ++c) {
        uvec4 column = right[from_right + c / 4 * 32 + c % 4 / 2 * 16 + h + quad * 2 + c % 2];
        sums[c / 4 * 8 + c % 4] += dot16(upper, column);
        sums[c / 4 * 8 + c % 4 + 4] += dot16(lower, column);
      }
    }
  }
  uvec4 m = table[2 * modulus], bytes = uvec4(0);
  for (int i = 0; i < 16; ++i) bytes[i / 4] |= (uint(sums[i] + int(m.z)) % m.x) << i % 4 * 8;
  remainders[(tile * MODULI + modulus) * TILE_ELEMENTS + element] = bytes;
}
