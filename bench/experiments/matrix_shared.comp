#version 460
// C = A B, or C -= A B with `subtract`: cooperative matrices of subgroup scope from tiles in shared memory.
// A, B and C are row-major; A and B are float16, C is float. build_spir_v.sh has the command lines.
// A work group makes GROUP_M x GROUP_N numbers with SUBGROUPS_M x SUBGROUPS_N subgroups, DEPTH deep a step.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require
layout(constant_id = 0) const uint M = 16;
layout(constant_id = 1) const uint N = 16;
layout(constant_id = 2) const uint K = 16;
layout(constant_id = 3) const uint subtract = 0;
const uint invocations = SUBGROUPS_M * SUBGROUPS_N * 32;
layout(local_size_x = SUBGROUPS_M * SUBGROUPS_N * 32) in;
// Eight halves or four floats an element, so that every access has 16 bytes.
layout(set = 0, binding = 0) readonly buffer A_buffer { uvec4 A[]; };
layout(set = 0, binding = 1) readonly buffer B_buffer { uvec4 B[]; };
layout(set = 0, binding = 2) buffer C_buffer { vec4 C[]; };
layout(push_constant) uniform Sizes { uint m, n, k; };
// One more element a row keeps the rows of a matrix out of the same banks.
const uint a_columns = DEPTH / 8, b_columns = GROUP_N / 8, a_stride = a_columns + 1, b_stride = b_columns + 1;
const uint a_elements = GROUP_M * a_columns, b_elements = DEPTH * b_columns;
const uint a_loads = a_elements / invocations, b_loads = b_elements / invocations;
shared uvec4 a_tiles[2][GROUP_M * a_stride];
shared uvec4 b_tiles[2][DEPTH * b_stride];
const uint tiles_m = GROUP_M / SUBGROUPS_M / 16, tiles_n = GROUP_N / SUBGROUPS_N / 16;
void main() {
  // Bands of eight rows of work groups keep the parts of A and B in use in cache.
  const uint band = 8, columns = gl_NumWorkGroups.x, id = gl_WorkGroupID.y * columns + gl_WorkGroupID.x;
  const uint first = id / (band * columns) * band, height = min(gl_NumWorkGroups.y - first, band);
  const uint row = (first + id % (band * columns) % height) * GROUP_M;
  const uint column = id % (band * columns) / height * GROUP_N;
  const uint own_row = gl_SubgroupID / SUBGROUPS_N * tiles_m * 16;
  const uint own_column = gl_SubgroupID % SUBGROUPS_N * tiles_n * 16;
  const uint t = gl_LocalInvocationIndex;
  uvec4 next_a[a_loads], next_b[b_loads];
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sums[tiles_m][tiles_n];
  [[unroll]] for (uint i = 0; i < tiles_m; ++i) {
    [[unroll]] for (uint j = 0; j < tiles_n; ++j) {
      sums[i][j] = coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
    }
  }
#define FETCH(step)                                                                                          \
  [[unroll]] for (uint l = 0; l < a_loads; ++l) {                                                            \
    const uint e = t + l * invocations;                                                                      \
    next_a[l] = A[(row + e / a_columns) * (k / 8) + (step) / 8 + e % a_columns];                             \
  }                                                                                                          \
  [[unroll]] for (uint l = 0; l < b_loads; ++l) {                                                            \
    const uint e = t + l * invocations;                                                                      \
    next_b[l] = B[((step) + e / b_columns) * (n / 8) + column / 8 + e % b_columns];                          \
  }
#define STORE(half_of_tiles)                                                                                 \
  [[unroll]] for (uint l = 0; l < a_loads; ++l) {                                                            \
    const uint e = t + l * invocations;                                                                      \
    a_tiles[half_of_tiles][e / a_columns * a_stride + e % a_columns] = next_a[l];                            \
  }                                                                                                          \
  [[unroll]] for (uint l = 0; l < b_loads; ++l) {                                                            \
    const uint e = t + l * invocations;                                                                      \
    b_tiles[half_of_tiles][e / b_columns * b_stride + e % b_columns] = next_b[l];                            \
  }
  FETCH(0)
  STORE(0)
  barrier();
  uint now = 0;
  for (uint step = 0; step < k; step += DEPTH) {
    const bool more = step + DEPTH < k;
    if (more) { FETCH(step + DEPTH) }
    [[unroll]] for (uint d = 0; d < DEPTH / 16; ++d) {
      coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a[tiles_m];
      [[unroll]] for (uint i = 0; i < tiles_m; ++i) {
        coopMatLoad(a[i], a_tiles[now], (own_row + i * 16) * a_stride + d * 2, a_stride,
                    gl_CooperativeMatrixLayoutRowMajor);
      }
      [[unroll]] for (uint j = 0; j < tiles_n; ++j) {
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b;
        coopMatLoad(b, b_tiles[now], d * 16 * b_stride + own_column / 8 + j * 2, b_stride,
                    gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint i = 0; i < tiles_m; ++i) sums[i][j] = coopMatMulAdd(a[i], b, sums[i][j]);
      }
    }
    if (more) { STORE(now ^ 1) }
    barrier();
    now ^= 1;
  }
  [[unroll]] for (uint i = 0; i < tiles_m; ++i) {
    [[unroll]] for (uint j = 0; j < tiles_n; ++j) {
      const uint place = ((row + own_row + i * 16) * n + column + own_column + j * 16) / 4;
      if (subtract != 0) {
        coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> old;
        coopMatLoad(old, C, place, n / 4, gl_CooperativeMatrixLayoutRowMajor);
        sums[i][j] = old - sums[i][j];
      }
      coopMatStore(sums[i][j], C, place, n / 4, gl_CooperativeMatrixLayoutRowMajor);
    }
  }
}
