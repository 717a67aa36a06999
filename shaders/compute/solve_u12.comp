#version 450 core
// A <- L^-1 A for a unit lower triangular L, in place, by blocks of TILE_ROWS rows, one after the other:
//   A_i <- A_i - sum over j < i of L_ij X_j
//   X_i <- A_i - (I - L_ii^-1) A_i             the same as L_ii^-1 A_i
// A work group does so for VECTORS_EACH ACROSS vectors of columns, of which no other reads anything. Both steps are
// products as update.comp has them, of an inner extent of up to all rows above and of TILE_ROWS. The blocks of L,
// transposed, and I - L_ii^-1 are made by invert.comp.
//
// Source: multiplying by inverses of diagonal blocks is how MAGMA's and rocBLAS's trsm go. It is as stable as
// substitution where those blocks are well conditioned (J. J. Du Croz, N. J. Higham: Stability of methods for matrix
// inversion, IMA Journal of Numerical Analysis 12, 1992), and unit triangles whose elements pivoting bounds are.
//
// Variants: as of update.comp; ALIGNED: every first element of A is a multiple of VECTOR_WIDTH, the number of rows one
// of 16, and the last vector of a row may be read whole.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#if ALIGNED
#define Element Vector
#else
#define Element Real
#endif
layout(std430, binding = 0) readonly restrict buffer Left { Vector left[]; };  // leading dimension LEFT_LEADING
layout(std430, binding = 1) coherent restrict buffer Result { Element result[]; };  // A

UNIFORMS
UNIFORM(0, ivec2) extents;  // rows, columns of A
UNIFORM(1, ivec4) result_layout;
END_UNIFORMS

#undef UPDATE
#define UPDATE -
#include "compute/tile_product.glsl"

#define READ_LEFT(at, k, column, valid) left[at]
#if ALIGNED
#define READ_RIGHT(at, k, column, valid) result[at]
#else
READ(read_right, result, result_layout)
#define READ_RIGHT(at, k, column, valid) read_right(k, column, (k) < end ? valid : 0)
#endif

void main() {
  int thread = int(gl_LocalInvocationIndex);
  int across = thread % ACROSS, down = thread / ACROSS;
  int tile_column = int(gl_WorkGroupID.x) * RIGHT_VECTORS * VECTOR_WIDTH;

  // what this invocation fetches, for the blocks at row and column 0 of L; as in update.comp
  int left_k = thread / LEFT_VECTORS, left_vector = thread % LEFT_VECTORS;
  int right_k = thread / RIGHT_VECTORS, right_column = tile_column + (thread % RIGHT_VECTORS) * VECTOR_WIDTH;
  int valid_right = extents.y - right_column;
  int left_origin = left_k * (LEFT_LEADING / VECTOR_WIDTH) + left_vector;
  int right_origin = place(result_layout, right_k, min(right_column, last_vector(extents.y))) / VECTOR_WIDTH;
  int left_step = LEFT_STEP * (LEFT_LEADING / VECTOR_WIDTH), right_step = RIGHT_STEP * result_layout.y / VECTOR_WIDTH;
  FETCHED

  // what it works on
  int left_from = down, right_from = across;
  int first_column = tile_column + across * VECTOR_WIDTH;
  bool whole_columns = tile_column + RIGHT_VECTORS * VECTOR_WIDTH <= extents.y;

  int blocks = (extents.x + TILE_ROWS - 1) / TILE_ROWS;
  for (int turn = 1; turn < 2 * blocks; ++turn) {  // even: with the blocks left of the diagonal
    int block_row = turn / 2 * TILE_ROWS;
    int begin = turn % 2 == 0 ? 0 : block_row, end = turn % 2 == 0 ? block_row : min(begin + TILE_ROWS, extents.x);
    int fetch_k = begin;
    int left_at = left_origin + (begin * LEFT_LEADING + block_row) / VECTOR_WIDTH;
    int right_at = right_origin + begin * result_layout.y / VECTOR_WIDTH;
    SUMS
    ADD_PRODUCTS(begin, end)

    int first_row = block_row + down * VECTOR_WIDTH;
    if (whole_columns && block_row + TILE_ROWS <= extents.x) {
      WRITE_TILE
    } else {
      WRITE_TILE_EDGE
    }
    groupMemoryBarrier();
    barrier();
  }
}
