#version 460
// C = A B, or C -= A B with `subtract`: cooperative matrices of work-group scope (GL_NV_cooperative_matrix2).
// A, B and C are row-major; A and B are float16, C is float. build_spir_v.sh has the command lines.
// A work group makes one tile of M x N, K deep a step; the driver stages it.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(constant_id = 0) const uint M = 128;
layout(constant_id = 1) const uint N = 128;
layout(constant_id = 2) const uint K = 64;
layout(constant_id = 3) const uint subtract = 0;
layout(local_size_x_id = 4) in;
layout(set = 0, binding = 0) readonly buffer A_buffer { float16_t A[]; };
layout(set = 0, binding = 1) readonly buffer B_buffer { float16_t B[]; };
layout(set = 0, binding = 2) buffer C_buffer { float C[]; };
layout(push_constant) uniform Sizes { uint m, n, k; };
void main() {
  const uint band = 8, columns = gl_NumWorkGroups.x, id = gl_WorkGroupID.y * columns + gl_WorkGroupID.x;
  const uint first = id / (band * columns) * band, height = min(gl_NumWorkGroups.y - first, band);
  const uint row = (first + id % (band * columns) % height) * M, column = id % (band * columns) / height * N;
  tensorLayoutNV<2> layout_a = createTensorLayoutNV(2);
  tensorLayoutNV<2> layout_b = createTensorLayoutNV(2);
  tensorLayoutNV<2> layout_c = createTensorLayoutNV(2);
  layout_a = setTensorLayoutDimensionNV(layout_a, m, k);
  layout_b = setTensorLayoutDimensionNV(layout_b, k, n);
  layout_c = setTensorLayoutDimensionNV(layout_c, m, n);
  // The masks tell the compiler that rows are aligned to 16 bytes.
  layout_a = setTensorLayoutStrideNV(layout_a, k & ~7u, 1);
  layout_b = setTensorLayoutStrideNV(layout_b, n & ~7u, 1);
  layout_c = setTensorLayoutStrideNV(layout_c, n & ~7u, 1);
  coopmat<float, gl_ScopeWorkgroup, M, N, gl_MatrixUseAccumulator> sum =
      coopmat<float, gl_ScopeWorkgroup, M, N, gl_MatrixUseAccumulator>(float(0.0));
  for (uint step = 0; step < k; step += K) {
    coopmat<float16_t, gl_ScopeWorkgroup, M, K, gl_MatrixUseA> a;
    coopmat<float16_t, gl_ScopeWorkgroup, K, N, gl_MatrixUseB> b;
    coopMatLoadTensorNV(a, A, 0, sliceTensorLayoutNV(layout_a, row, M, step, K));
    coopMatLoadTensorNV(b, B, 0, sliceTensorLayoutNV(layout_b, step, K, column, N));
    sum = coopMatMulAdd(a, b, sum);
  }
  if (subtract != 0) {
    coopmat<float, gl_ScopeWorkgroup, M, N, gl_MatrixUseAccumulator> old;
    coopMatLoadTensorNV(old, C, 0, sliceTensorLayoutNV(layout_c, row, M, column, N));
    sum = old - sum;
  }
  coopMatStoreTensorNV(sum, C, 0, sliceTensorLayoutNV(layout_c, row, M, column, N));
}
