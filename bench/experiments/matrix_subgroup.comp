#version 460
// C = A B, or C -= A B with `subtract`: cooperative matrices of subgroup scope, straight from device memory.
// A, B and C are row-major; A and B are float16, C is OUTPUT. build_spir_v.sh has the command lines.
// A subgroup makes TILES_M x TILES_N matrices; a work group is 2 x 2 subgroups.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require
layout(constant_id = 0) const uint M = 16;
layout(constant_id = 1) const uint N = 16;
layout(constant_id = 2) const uint K = 16;
#ifndef TILES_M
#define TILES_M 4
#define TILES_N 4
#endif
layout(constant_id = 3) const uint subtract = 0;
layout(local_size_x = 128) in;
// ELEMENT is float16_t or uvec4, eight at a time: only then can the compiler load more than two bytes at once.
layout(set = 0, binding = 0) readonly buffer A_buffer { ELEMENT A[]; };
layout(set = 0, binding = 1) readonly buffer B_buffer { ELEMENT B[]; };
layout(set = 0, binding = 2) buffer C_buffer { OUTPUT C[]; };
layout(push_constant) uniform Sizes { uint m, n, k; };
void main() {
  // Bands of eight rows of work groups keep the parts of A and B in use in cache.
  const uint band = 8, columns = gl_NumWorkGroups.x, id = gl_WorkGroupID.y * columns + gl_WorkGroupID.x;
  const uint first = id / (band * columns) * band, height = min(gl_NumWorkGroups.y - first, band);
  const uint group_row = first + id % (band * columns) % height, group_column = id % (band * columns) / height;
  const uint row = (group_row * 2 + gl_SubgroupID / 2) * TILES_M * M;
  const uint column = (group_column * 2 + gl_SubgroupID % 2) * TILES_N * N;
  coopmat<OUTPUT, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sums[TILES_M][TILES_N];
  [[unroll]] for (uint i = 0; i < TILES_M; ++i) {
    [[unroll]] for (uint j = 0; j < TILES_N; ++j) {
      sums[i][j] = coopmat<OUTPUT, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(OUTPUT(0.0));
    }
  }
  for (uint step = 0; step < k; step += K) {
    coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a[TILES_M];
    [[unroll]] for (uint i = 0; i < TILES_M; ++i) {
      coopMatLoad(a[i], A, ((row + i * M) * k + step) / PACKED, k / PACKED, gl_CooperativeMatrixLayoutRowMajor);
    }
    [[unroll]] for (uint j = 0; j < TILES_N; ++j) {
      coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;
      coopMatLoad(b, B, (step * n + column + j * N) / PACKED, n / PACKED, gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint i = 0; i < TILES_M; ++i) sums[i][j] = coopMatMulAdd(a[i], b, sums[i][j]);
    }
  }
  [[unroll]] for (uint i = 0; i < TILES_M; ++i) {
    [[unroll]] for (uint j = 0; j < TILES_N; ++j) {
      const uint place = (row + i * M) * n + column + j * N;
      if (subtract != 0) {
        coopmat<OUTPUT, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> old;
        coopMatLoad(old, C, place, n, gl_CooperativeMatrixLayoutRowMajor);
        sums[i][j] = old - sums[i][j];
      }
      coopMatStore(sums[i][j], C, place, n, gl_CooperativeMatrixLayoutRowMajor);
    }
  }
}
