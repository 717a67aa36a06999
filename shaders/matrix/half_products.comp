#version 460
// C <- C - L U by matrices of halves with sums in single precision (VK_KHR_cooperative_matrix). A work group of 2 x 4
// subgroups makes a tile of 128 x 256 from operands as compute/halves.glsl packs them.
// scripts/matrix_shaders.sh compiles it to the .spv beside it, which the program contains.
//
// What makes it fast, on an H100:
//   - all memory is reached by address: the driver checks the bounds of every access to a bound buffer;
//   - an operand's element is an invocation's part of a matrix, in the order of its registers: one load of 16 bytes
//     fills a matrix, and there is neither shared memory nor a barrier. What the loop carries are words: components
//     would be taken apart and put together in every turn;
//   - C moves 16 bytes at a time, and the next 16 rows are loaded before these are stored;
//   - work groups walk bands of 32 tile rows.
// Macros stand for code, because a function would copy the matrices.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_control_flow_attributes : require

#define EACH(f) [[unroll]] for (int f = 0; f < 4; ++f)
const int band = 32;

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer Elements { uvec4 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vector { vec4 of_c; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Number { float of_c; };
layout(std430, binding = 3) readonly restrict buffer LeftScale { uint left_largest; };
layout(std430, binding = 4) readonly restrict buffer RightScales { uint right_largest[]; };
layout(push_constant) uniform Uniforms {
  layout(offset = 0) ivec4 part;            // of the packed rows and columns: the first ones, their ends
  layout(offset = 16) uvec4 addresses;      // of L's and U's elements, low words first
  layout(offset = 32) ivec4 result_layout;  // of the part, as compute/place.glsl says
  // the depth in fragments, even; whether vectors of C are aligned; STRIPE_SHIFT; U's part
  layout(offset = 48) ivec4 others;
  layout(offset = 64) uvec2 address_of_c;
};

int scale_of(uint largest) { return largest >= 0x7f800000u ? 0 : min(141 - int(largest >> 23), 100); }

// The offset in bytes of a column from the first one of its row.
int offset_of(int column) {
  const int c = result_layout.z + column;
  return ((c >> others.z) * result_layout.w + (c & ((1 << others.z) - 1))) * 4;
}

#define SET_WORD(matrix, at, word)           \
  {                                          \
    const f16vec2 v = unpackFloat2x16(word); \
    matrix[(at)*2] = v.x;                    \
    matrix[(at)*2 + 1] = v.y;                \
  }
// Registers of A have the second and third pair of components the other way round.
#define SET(matrix, words, second, third) \
  {                                       \
    SET_WORD(matrix, 0, (words).x)        \
    SET_WORD(matrix, second, (words).y)   \
    SET_WORD(matrix, third, (words).z)    \
    SET_WORD(matrix, 3, (words).w)        \
  }
// Behind the last stage, the last one is loaded again.
#define LOAD(set, index)                                                     \
  {                                                                          \
    const uint from = min(index, uint(others.x) - 1);                        \
    Elements piece_a = Elements(from_a + uint64_t(from) * 2048);       \
    Elements piece_b = Elements(from_b + uint64_t(from) * 2048);       \
    EACH(f) words_a[set][f] = piece_a.at[f * 32];                            \
    EACH(f) words_b[set][f] = piece_b.at[f * 32];                            \
  }
#define STEP(set)                                                            \
  EACH(f) SET(a[set][f], words_a[set][f], 2, 1)                              \
  EACH(f) SET(b[set][f], words_b[set][f], 1, 2)                              \
  EACH(j) { EACH(i) sums[i][j] = coopMatMulAdd(a[set][i], b[set][j], sums[i][j]); }

void main() {
  const int across = (part.w - part.y / 64 * 64 + 255) / 256, down = (part.z - part.x / 64 * 64 + 127) / 128;
  const int id = int(gl_WorkGroupID.x), first = id / (band * across) * band, height = min(down - first, band);
  const int in_band = id - first * across;
  const int subgroup = int(gl_SubgroupID), lane = int(gl_SubgroupInvocationID);
  // the first row and column of the subgroup's part of the tile, 64 x 64
  const int row = part.x / 64 * 64 + (first + in_band % height) * 128 + subgroup / 4 * 64;
  const int column = part.y / 64 * 64 + in_band / height * 256 + subgroup % 4 * 64;
  if (row >= part.z || column >= part.w) return;
  const uint64_t from_a = packUint2x32(addresses.xy) + uint64_t(row / 64 * others.x) * 2048 + lane * 16;
  const uint64_t from_b = packUint2x32(addresses.zw) + uint64_t(column / 64 * others.x) * 2048 + lane * 16;
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sums[4][4];
  coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a[2][4];
  coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b[2][4];
  uvec4 words_a[2][4], words_b[2][4];
  EACH(i) { EACH(j) sums[i][j] = coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0); }
  LOAD(0, 0u)
  for (uint s = 0; s < uint(others.x); s += 2) {
    LOAD(1, s + 1)
    STEP(0)
    LOAD(0, s + 2)
    STEP(1)
  }

  const float scale =
      uintBitsToFloat(uint(clamp(-scale_of(left_largest) - scale_of(right_largest[others.w]), -126, 127) + 127) << 23);
  const int own_row = row + lane / 4, own_column = column + lane % 4 * 4;
  const bool is_whole =
      row >= part.x && row + 64 <= part.z && column >= part.y && column + 64 <= part.w && others.y != 0;
  const int64_t row_bytes = int64_t(result_layout.y) * 4;
  uint64_t place = packUint2x32(address_of_c) + uint64_t(int64_t(result_layout.x) * 4 + (own_row - part.x) * row_bytes);
  int offsets[4];
  EACH(j) offsets[j] = offset_of(own_column - part.y + j * 16);
  if (is_whole) {
    vec4 old[2][8];
#define LOAD_C(set, from)                                                      \
  EACH(j) {                                                                    \
    old[set][2 * j] = Vector((from) + offsets[j]).of_c;                        \
    old[set][2 * j + 1] = Vector((from) + 8 * row_bytes + offsets[j]).of_c;    \
  }
    LOAD_C(0, place)
    EACH(i) {
      if (i + 1 < 4) LOAD_C((i + 1) % 2, place + 16 * row_bytes)
      EACH(j) {
        Vector(place + offsets[j]).of_c =
            old[i % 2][2 * j] - scale * vec4(sums[i][j][0], sums[i][j][1], sums[i][j][2], sums[i][j][3]);
        Vector(place + 8 * row_bytes + offsets[j]).of_c =
            old[i % 2][2 * j + 1] - scale * vec4(sums[i][j][4], sums[i][j][5], sums[i][j][6], sums[i][j][7]);
      }
      place += 16 * row_bytes;
    }
    return;
  }
  EACH(i) {
    EACH(j) {
      [[unroll]] for (int c = 0; c < 8; ++c) {
        const int r = own_row + i * 16 + c / 4 * 8, k = own_column + j * 16 + c % 4;
        if (r >= part.x && r < part.z && k >= part.y && k < part.w) {
          Number at = Number(place + (i * 16 + c / 4 * 8) * row_bytes + offset_of(k - part.y));
          at.of_c = at.of_c - scale * sums[i][j][c];
        }
      }
    }
  }
}
