// A product of 64 x 64 by matrices of any shape (VK_KHR_cooperative_matrix), for devices whose shape or register order
// is not that of the other kernels. Four subgroups multiply 32 x 32 each. Before it: FACTOR and SUM, the types of
// numbers; FACTOR_BYTES.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;  // of four subgroups
// The device's shape: divisors of 32, and DEPTH of a stage's depth.
layout(constant_id = 1) const int ROWS = 16;
layout(constant_id = 2) const int COLUMNS = 16;
layout(constant_id = 3) const int DEPTH = 16;

// A stage of an operand has 64 rows of 32 bytes, that of U its columns as rows. A pitch of 48 bytes spreads rows over
// the banks of shared memory.
const int stage_depth = 32 / FACTOR_BYTES, pitch = 12, words_per_depth = DEPTH * FACTOR_BYTES / 4;
const int sums_pitch = 68;
const int down = 32 / ROWS, across = 32 / COLUMNS;
shared uint stage_a[64 * pitch], stage_b[64 * pitch];
shared SUM products[64 * sums_pitch];

coopmat<SUM, gl_ScopeSubgroup, ROWS, COLUMNS, gl_MatrixUseAccumulator> sums[down * across];
const int threads = int(gl_WorkGroupSize.x);

void clear_sums() {
  [[unroll]] for (int i = 0; i < down * across; ++i) {
    sums[i] = coopmat<SUM, gl_ScopeSubgroup, ROWS, COLUMNS, gl_MatrixUseAccumulator>(SUM(0));
  }
}

void multiply_stage() {
  if (gl_SubgroupID > 3) return;
  const int row = int(gl_SubgroupID) / 2 * 32, column = int(gl_SubgroupID) % 2 * 32;
  [[unroll]] for (int k = 0; k < stage_depth / DEPTH; ++k) {
    [[unroll]] for (int i = 0; i < down; ++i) {
      coopmat<FACTOR, gl_ScopeSubgroup, ROWS, DEPTH, gl_MatrixUseA> a;
      coopMatLoad(a, stage_a, (row + i * ROWS) * pitch + k * words_per_depth, pitch,
                  gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (int j = 0; j < across; ++j) {
        coopmat<FACTOR, gl_ScopeSubgroup, DEPTH, COLUMNS, gl_MatrixUseB> b;
        coopMatLoad(b, stage_b, (column + j * COLUMNS) * pitch + k * words_per_depth, pitch,
                    gl_CooperativeMatrixLayoutColumnMajor);
        sums[i * across + j] = coopMatMulAdd(a, b, sums[i * across + j]);
      }
    }
  }
}

void store_sums() {
  const int row = int(gl_SubgroupID) / 2 * 32, column = int(gl_SubgroupID) % 2 * 32;
  if (gl_SubgroupID < 4) {
    [[unroll]] for (int i = 0; i < down; ++i) {
      [[unroll]] for (int j = 0; j < across; ++j) {
        coopMatStore(sums[i * across + j], products, (row + i * ROWS) * sums_pitch + column + j * COLUMNS, sums_pitch,
                     gl_CooperativeMatrixLayoutRowMajor);
      }
    }
  }
  barrier();
}

// The product of a row with a column of U. U's columns are packed in another order: column_of() of compute/halves.glsl.
SUM product_at(int row, int column) {
  const int place = column % 4 / 2 * 8 + column % 16 / 4 * 2 + column % 2;
  return products[row * sums_pitch + column / 16 * 16 + place];
}
