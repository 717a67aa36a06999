#version 460
// Products of residues by matrices of bytes (VK_KHR_cooperative_matrix), each reduced to a byte that is congruent to it.
// A work group of 2 x 4 subgroups makes a tile of 128 x 256 for a modulus, from operands as compute/residues.glsl packs
// them. scripts/matrix_shaders.sh compiles it to the .spv beside it, which the program contains.
//
// What makes it fast, on an H100:
//   - operands are reached by address: the driver checks the bounds of every access to a bound buffer;
//   - row r of all fragments stands together in shared memory, with an odd pitch: eight rows of a fragment lie in
//     different banks, and loading a matrix is one instruction;
//   - fetches from device memory are three stages ahead of their stores to shared memory;
//   - matrices of the next stage are loaded before the products of the current one;
//   - work groups walk bands of 32 tile rows.
// Macros stand for code, because a function would copy the matrices.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_control_flow_attributes : require

#define EACH_FRAGMENT [[unroll]] for (uint f = 0; f < 4; ++f)
const uint fragments_a = 8, fragments_b = 16, band = 32, tile_elements = 2048;
const uint stride = (fragments_a + fragments_b) * 2 + 1, stage_elements = 16 * stride;

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer Elements { uvec4 at[]; };
layout(std430, binding = 2) writeonly restrict buffer Remainders { uvec4 remainders[]; };
layout(std430, binding = 3) readonly restrict buffer Table { uvec4 table[]; };
layout(push_constant) uniform Uniforms {
  layout(offset = 0) uvec4 addresses;  // of L's and U's elements, low words first
  layout(offset = 16) uvec4 tiles;     // rows and columns of tiles; the first ones of L and U
  layout(offset = 32) uvec4 extents;   // depth in fragments is z, a multiple of 4; w: the number of moduli
};

shared uvec4 stages[2 * stage_elements];

// Where the 16 bytes `e` of a stage's fragments, of which the first is number `first`, lie in shared memory.
uint shared_place(uint e, uint first) {
  return (e / 16 % 2 * 8 + e % 8) * stride + (e / 32 + first) * 2 + e / 8 % 2;
}
// Congruent to the sum: the estimate of the quotient is exact or one too small, and a byte holds the result.
uint remainder(int sum, uvec4 modulus) {
  uint high, low;
  umulExtended(uint(sum), modulus.y, high, low);
  return uint(sum) - high * modulus.x;
}
#define FOUR(x, at)                                                                               \
  (remainder(x[at], modulus) + (remainder(x[at + 1], modulus) << 8) +                             \
   (remainder(x[at + 2], modulus) << 16) + (remainder(x[at + 3], modulus) << 24))

// Behind the last stage, the last one is fetched again.
#define FETCH(set, index)                                                           \
  {                                                                                 \
    const uint from = min(index, depth - 1);                                        \
    Elements piece_a = Elements(from_a + uint64_t(from) * (fragments_a * 512));     \
    Elements piece_b = Elements(from_b + uint64_t(from) * (fragments_b * 512));     \
    next_a[set] = piece_a.at[0];                                                    \
    next_b[set][0] = piece_b.at[0];                                                 \
    next_b[set][1] = piece_b.at[256];                                               \
  }
#define PUT(set, half)                                                                          \
  stages[(half)*stage_elements + shared_place(t, 0)] = next_a[set];                             \
  stages[(half)*stage_elements + shared_place(t, fragments_a)] = next_b[set][0];                \
  stages[(half)*stage_elements + shared_place(t + 256, fragments_a)] = next_b[set][1];
#define LOAD(a, b, half)                                                                        \
  EACH_FRAGMENT coopMatLoad(a[f], stages, (half)*stage_elements + (own_a + f) * 2, stride,      \
                            gl_CooperativeMatrixLayoutRowMajor);                                \
  EACH_FRAGMENT coopMatLoad(b[f], stages, (half)*stage_elements + (fragments_a + own_b + f) * 2, stride, \
                            gl_CooperativeMatrixLayoutColumnMajor);
#define MULTIPLY(a, b)                                                                          \
  [[unroll]] for (uint j = 0; j < 4; ++j) {                                                     \
    [[unroll]] for (uint i = 0; i < 4; ++i) sums[i][j] = coopMatMulAdd(a[i], b[j], sums[i][j]); \
  }
#define STAGE(s, set, now_a, now_b, later_a, later_b) \
  FETCH(set, (s) + 4)                                 \
  PUT(((set) + 1) % 4, ((set) + 1) % 2)               \
  barrier();                                          \
  LOAD(later_a, later_b, ((set) + 1) % 2)             \
  MULTIPLY(now_a, now_b)

void main() {
  const uint t = gl_LocalInvocationIndex, own_a = gl_SubgroupID / 4 * 4, own_b = gl_SubgroupID % 4 * 4;
  const uint first = gl_WorkGroupID.x / (band * tiles.y) * band, height = min(tiles.x - first, band);
  const uint in_band = gl_WorkGroupID.x - first * tiles.y;
  const uint row = first + in_band % height, column = in_band / height;
  const uint which = gl_WorkGroupID.y, depth = extents.z, moduli = extents.w;
  const uint64_t from_a = packUint2x32(addresses.xy) + t * 16 +
                          uint64_t(((tiles.z + row) * moduli + which) * depth) * (fragments_a * 512);
  const uint64_t from_b = packUint2x32(addresses.zw) + t * 16 +
                          uint64_t(((tiles.w + column) * moduli + which) * depth) * (fragments_b * 512);
  const uvec4 modulus = table[2 * which];  // p, floor(2^32 / p), a multiple of p that makes sums positive
  coopmat<int, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sums[4][4];
  coopmat<int8_t, gl_ScopeSubgroup, 16, 32, gl_MatrixUseA> a0[4], a1[4];
  coopmat<int8_t, gl_ScopeSubgroup, 32, 16, gl_MatrixUseB> b0[4], b1[4];
  uvec4 next_a[4], next_b[4][2];
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      sums[i][j] = coopmat<int, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(int(modulus.z));
    }
  }
  FETCH(0, 0)
  PUT(0, 0)
  FETCH(1, 1)
  FETCH(2, 2)
  FETCH(3, 3)
  barrier();
  LOAD(a0, b0, 0)
  for (uint s = 0; s < depth; s += 4) {
    STAGE(s, 0, a0, b0, a1, b1)
    STAGE(s + 1, 1, a1, b1, a0, b0)
    STAGE(s + 2, 2, a0, b0, a1, b1)
    STAGE(s + 3, 3, a1, b1, a0, b0)
  }
  uint to = ((row * tiles.y + column) * moduli + which) * tile_elements + gl_SubgroupID * 256 + gl_SubgroupInvocationID;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    [[unroll]] for (uint j = 0; j < 4; j += 2) {
      remainders[to + (i * 2 + j / 2) * 32] = uvec4(FOUR(sums[i][j], 0), FOUR(sums[i][j], 4), FOUR(sums[i][j + 1], 0),
                                                   FOUR(sums[i][j + 1], 4));
    }
  }
}
