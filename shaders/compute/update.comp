#version 450 core
// C <- C - L U: L given transposed, depth x rows; U depth x columns; C rows x columns. The matrices may be parts of one
// buffer as long as C is none of what is read. UPDATE is -, or + for C <- C + L U.
//
// A work group of ACROSS x DOWN invocations makes a tile of 8 DOWN rows x VECTORS_EACH ACROSS vectors (vec4s or
// dvec2s), an invocation 8 rows x VECTORS_EACH vectors of it. Its rows lie in groups of VECTOR_WIDTH that are DOWN
// groups apart and its vectors ACROSS apart, so that neighbours read neighbouring shared memory. What makes it fast:
//   - sums are separately named variables: an array would be put into memory;
//   - tiles STAGE_DEPTH deep lie in two shared buffers, and a turn of the loop goes through both in its text, so that
//     every shared offset is a constant; the next tile is fetched into registers while this one is worked on;
//   - both inputs have their rows along memory, so that every load is a vector;
//   - work groups walk bands of BAND tile rows, so that the tiles they share stay in cache.
// An invocation reads 8 + VECTORS_EACH VECTOR_WIDTH numbers of shared memory for 8 VECTORS_EACH VECTOR_WIDTH products.
// With two vectors of doubles that, and not arithmetic, is what limits it on GPUs whose double precision is half as
// fast as single; three or four take more registers, which leaves fewer invocations to work at a time.
//
// Variants: DOUBLE (precision.glsl); ALIGNED: every first element is a multiple of VECTOR_WIDTH, depth one of 16, and
// the last vector of an input's row may be read whole; otherwise nothing is assumed, and VECTORS_EACH is 2. UNROLLED:
// the steps of a stage are written out, against a loop that is quicker to compile. PREFETCH: they are, and what a step
// needs of shared memory is read during the step before it. LOADS_BEFORE_STORES: of ALIGNED ones, an invocation loads all
// its elements of C before it stores any. The tile: ACROSS, a multiple of 8 of at most 32; DOWN, 4, 8 or 16;
// BAND; VECTORS_EACH, 1 to 4; STAGE_DEPTH, 4 or 8 (src/local/kernels/tuning.hpp).
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

#if ALIGNED
#define Element Vector
#else
#define Element Real
#endif
layout(std430, binding = 0) readonly restrict buffer Left { Element left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { Element right[]; };
layout(std430, binding = 2) restrict buffer Result { Element result[]; };

UNIFORMS
UNIFORM(0, ivec2) extents;        // rows, columns of C
UNIFORM(1, int) depth;
UNIFORM(2, ivec4) left_layout;    // place.glsl
UNIFORM(3, ivec4) right_layout;
UNIFORM(4, ivec4) result_layout;
END_UNIFORMS

#include "compute/tile_product.glsl"

#if ALIGNED
#define READ_LEFT(at, k, column, valid) left[at]
#define READ_RIGHT(at, k, column, valid) right[at]
#else
READ(read_left, left, left_layout)
READ(read_right, right, right_layout)
#define READ_LEFT(at, k, column, valid) read_left(k, column, (k) < depth ? valid : 0)
#define READ_RIGHT(at, k, column, valid) read_right(k, column, (k) < depth ? valid : 0)
#endif

// Vector `e` of the tile, one row of depth after the other.
int place_of_right(int tile_column, int e) {
  int column = min(tile_column + e % RIGHT_VECTORS * VECTOR_WIDTH, last_vector(extents.y));
  return place(right_layout, e / RIGHT_VECTORS, column) / VECTOR_WIDTH;
}

void main() {
  int thread = int(gl_LocalInvocationIndex);
  int across = thread % ACROSS, down = thread / ACROSS;

  // the tile: down the rows of a band, then to the band's next column
  int tile_columns = int(gl_NumWorkGroups.x), tile_rows = int(gl_NumWorkGroups.y);
  int tile = int(gl_WorkGroupID.y) * tile_columns + int(gl_WorkGroupID.x);
  int band = tile / (BAND * tile_columns), in_band = tile % (BAND * tile_columns);
  int band_rows = min(tile_rows - band * BAND, BAND);
  int tile_row = (band * BAND + in_band % band_rows) * TILE_ROWS;
  int tile_column = (in_band / band_rows) * RIGHT_VECTORS * VECTOR_WIDTH;

  // the fetches of this invocation; beyond the edge, it repeats the last vector, whose sums are not written
  int left_k = thread / LEFT_VECTORS, left_row = tile_row + (thread % LEFT_VECTORS) * VECTOR_WIDTH;
  int right_k = thread / RIGHT_VECTORS, right_column = tile_column + (thread % RIGHT_VECTORS) * VECTOR_WIDTH;
  int valid_left = extents.x - left_row, valid_right = extents.y - right_column;
  int left_at = place(left_layout, left_k, min(left_row, last_vector(extents.x))) / VECTOR_WIDTH;
  int right_at = place_of_right(tile_column, thread);
  int left_step = LEFT_STEP * left_layout.y / VECTOR_WIDTH, right_step = RIGHT_STEP * right_layout.y / VECTOR_WIDTH;
#if !RIGHT_WHOLE
  int right_at_b = place_of_right(tile_column, THREADS + thread);
  int right_at_c = place_of_right(tile_column, 2 * THREADS + thread);
#endif
  FETCHED
  int fetch_k = 0;

  // what it works on
  int left_from = down, right_from = across;
  SUMS

  ADD_PRODUCTS(0, depth)

  int first_row = tile_row + down * VECTOR_WIDTH, first_column = tile_column + across * VECTOR_WIDTH;
  if (tile_row + TILE_ROWS <= extents.x && tile_column + RIGHT_VECTORS * VECTOR_WIDTH <= extents.y) {
    WRITE_TILE
  } else {
    WRITE_TILE_EDGE
  }
}
