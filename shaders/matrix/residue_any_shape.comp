#version 460
// Products of residues as compute/residue_products.comp, by matrices of bytes of any shape. A work group makes a part
// of 64 x 64 of a tile for a modulus. scripts/matrix_shaders.sh compiles it to the .spv beside it.
#extension GL_GOOGLE_include_directive : require
#define FACTOR int8_t
#define FACTOR_BYTES 1
#define SUM int
#define UNROLLED 1
#include "compute/residues.glsl"
#include "matrix/any_shape.glsl"

layout(std430, binding = 0) readonly restrict buffer Left { uvec4 left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { uvec4 right[]; };
layout(std430, binding = 2) writeonly restrict buffer Remainders { uvec4 remainders[]; };
layout(std430, binding = 3) readonly restrict buffer Table { uvec4 table[]; };
layout(push_constant) uniform Uniforms {
  layout(offset = 16) ivec4 tiles;    // rows and columns of tiles; the first ones of L and U
  layout(offset = 32) ivec4 extents;  // of C: rows, columns; depth in fragments; the number of moduli
};

void main() {
  const int thread = int(gl_LocalInvocationIndex), part = int(gl_WorkGroupID.x), moduli = extents.w;
  const int tile = int(gl_WorkGroupID.y) / moduli, which = int(gl_WorkGroupID.y) % moduli;
  const ivec2 at = ivec2(tile / tiles.y, tile % tiles.y), in_tile = corner_of(part * 256);
  if (any(greaterThanEqual(at * ivec2(TILE_ROWS, TILE_COLUMNS) + in_tile, extents.xy))) return;
  const ivec2 packed_tile = (at + tiles.zw) * moduli + which;
  clear_sums();
  for (int l = 0; l < extents.z; ++l) {
    const ivec2 first = ((packed_tile * extents.z + l) * ivec2(8, 16) + in_tile / 16) * 32;
    barrier();
    for (int e = thread; e < 128; e += threads) {
      const uvec4 a = left[first.x + e], b = right[first.y + e];
      const int to = (e / 16 * 8 + e % 8) * pitch + e / 8 % 2 * 4;
      for (int w = 0; w < 4; ++w) {
        stage_a[to + w] = a[w];
        stage_b[to + w] = b[w];
      }
    }
    barrier();
    multiply_stage();
  }
  store_sums();
  const uvec4 modulus = table[2 * which];  // p; z: a multiple of p that makes sums positive
  for (int e = thread; e < 256; e += threads) {
    const ivec2 corner = corner_of(part * 256 + e) - in_tile;
    uvec4 bytes = uvec4(0);
    for (int i = 0; i < 16; ++i) {
      const int sum = product_at(corner.x + i / 4 % 2 * 8, corner.y + i / 8 * 16 + i % 4);
      bytes[i / 4] |= (uint(sum + int(modulus.z)) % modulus.x) << i % 4 * 8;
    }
    remainders[(tile * moduli + which) * TILE_ELEMENTS + part * 256 + e] = bytes;
  }
}
