#version 450 core
// C <- C - L U: L given transposed, depth x rows; U depth x columns; C rows x columns. The matrices may be parts of one
// buffer as long as C is none of what is read. UPDATE is -=, or += for C <- C + L U.
//
// A work group of ACROSS x DOWN invocations makes a tile of 8 DOWN rows x 2 ACROSS vectors (a vector is a vec4 or a
// dvec2), an invocation 8 rows x 2 vectors of it. Its rows lie in groups of VECTOR_WIDTH that are DOWN groups apart and
// its vectors ACROSS apart, so that neighbours read neighbouring shared memory. What makes it fast:
//   - sums are separately named variables: an array would be put into memory;
//   - tiles 8 deep lie in two shared buffers, and a turn of the loop goes through both in its text, so that every
//     shared offset is a constant; the next tile is fetched into registers while this one is worked on;
//   - both inputs have their rows along memory, so that every load is a vector;
//   - work groups walk bands of BAND tile rows, so that the tiles they share stay in cache.
//
// Variants: DOUBLE (precision.glsl); ALIGNED: every first element is a multiple of VECTOR_WIDTH, depth one of 16, and
// the last vector of an input's row may be read whole; otherwise nothing is assumed. UNROLLED: the 8 steps
// of a stage are written out, against a loop that is quicker to compile. PREFETCH: they are, and what a step needs of
// shared memory is read during the step before it. The tile: ACROSS, a multiple of 8 of at most 32, DOWN, 8 or 16, BAND
// (src/local/gl/compute/reduce_tile.hpp).
#include "compute/place.glsl"
#include "compute/precision.glsl"

#define THREADS (ACROSS * DOWN)
#define STAGE_DEPTH 8
#define TILE_ROWS (8 * DOWN)
#define LEFT_VECTORS (TILE_ROWS / VECTOR_WIDTH)
#define RIGHT_VECTORS (2 * ACROSS)

layout(local_size_x = THREADS) in;

#if ALIGNED
#define Element Vector
#else
#define Element Real
#endif
layout(std430, binding = 0) readonly restrict buffer Left { Element left[]; };
layout(std430, binding = 1) readonly restrict buffer Right { Element right[]; };
layout(std430, binding = 2) restrict buffer Result { Element result[]; };

layout(location = 0) uniform ivec2 extents;        // rows, columns of C
layout(location = 1) uniform int depth;
layout(location = 2) uniform ivec4 left_layout;    // place.glsl
layout(location = 3) uniform ivec4 right_layout;
layout(location = 4) uniform ivec4 result_layout;

shared Vector left_tile[2 * STAGE_DEPTH * LEFT_VECTORS];
shared Vector right_tile[2 * STAGE_DEPTH * RIGHT_VECTORS];

// --- Loading -------------------------------------------------------------------------------------------------------
// A vector, by its place among the vectors, or by its row of depth and column. `valid`: how many of its elements exist.
#if ALIGNED
#define READ_LEFT(at, k, column, valid) left[at]
#define READ_RIGHT(at, k, column, valid) right[at]
#else
#define READ(name, source, layout_of)                                                       \
  Vector name(int k, int column, int valid) {                                    \
    Vector value = Vector(0);                                                    \
    if (valid > 0) value.x = source[place(layout_of, k, column)];          \
    if (valid > 1) value.y = source[place(layout_of, k, column + 1)];      \
    READ_UPPER(source, layout_of)                                                           \
    return value;                                                                \
  }
#if DOUBLE
#define READ_UPPER(source, layout_of)
#else
#define READ_UPPER(source, layout_of)                                                       \
  if (valid > 2) value.z = source[place(layout_of, k, column + 2)];        \
  if (valid > 3) value.w = source[place(layout_of, k, column + 3)];
#endif
READ(read_left, left, left_layout)
READ(read_right, right, right_layout)
#define READ_LEFT(at, k, column, valid) read_left(k, column, (k) < depth ? valid : 0)
#define READ_RIGHT(at, k, column, valid) read_right(k, column, (k) < depth ? valid : 0)
#endif

// --- Storing -------------------------------------------------------------------------------------------------------
#if ALIGNED
void update(int row, int column, Vector sum) { result[place(result_layout, row, column) / VECTOR_WIDTH] UPDATE sum; }
void update_edge(int row, int column, int valid, Vector sum) {
  int at = place(result_layout, row, column) / VECTOR_WIDTH;
  if (valid > 0) result[at].x UPDATE sum.x;
  if (valid > 1) result[at].y UPDATE sum.y;
#if !DOUBLE
  if (valid > 2) result[at].z UPDATE sum.z;
  if (valid > 3) result[at].w UPDATE sum.w;
#endif
}
#else
void update_edge(int row, int column, int valid, Vector sum) {
  if (valid > 0) result[place(result_layout, row, column)] UPDATE sum.x;
  if (valid > 1) result[place(result_layout, row, column + 1)] UPDATE sum.y;
#if !DOUBLE
  if (valid > 2) result[place(result_layout, row, column + 2)] UPDATE sum.z;
  if (valid > 3) result[place(result_layout, row, column + 3)] UPDATE sum.w;
#endif
}
void update(int row, int column, Vector sum) { update_edge(row, column, VECTOR_WIDTH, sum); }
#endif

// --- One step of depth: 8 rows x 2 vectors --------------------------------------------------------------------------
#define ROW(factor, right_a, right_b, sum_a, sum_b) \
  sum_a = fma(Vector(factor), right_a, sum_a);      \
  sum_b = fma(Vector(factor), right_b, sum_b);

#define LEFT_AT(buffer, k, group) left_tile[left_from + ((buffer) * STAGE_DEPTH + (k)) * LEFT_VECTORS + (group) * DOWN]
#define RIGHT_AT(buffer, k, group) \
  right_tile[right_from + ((buffer) * STAGE_DEPTH + (k)) * RIGHT_VECTORS + (group) * ACROSS]

// Eight rows of the left are four vectors or two.
#if DOUBLE
#define TAKE_LEFT(buffer, k, a, b, c, d) \
  a = LEFT_AT(buffer, k, 0);             \
  b = LEFT_AT(buffer, k, 1);             \
  c = LEFT_AT(buffer, k, 2);             \
  d = LEFT_AT(buffer, k, 3);
#define ALL_ROWS(a, b, c, d, e, f)                                        \
  ROW(a.x, e, f, sum0a, sum0b) ROW(a.y, e, f, sum1a, sum1b) ROW(b.x, e, f, sum2a, sum2b) ROW(b.y, e, f, sum3a, sum3b) \
  ROW(c.x, e, f, sum4a, sum4b) ROW(c.y, e, f, sum5a, sum5b) ROW(d.x, e, f, sum6a, sum6b) ROW(d.y, e, f, sum7a, sum7b)
#else
#define TAKE_LEFT(buffer, k, a, b, c, d) \
  a = LEFT_AT(buffer, k, 0);             \
  b = LEFT_AT(buffer, k, 1);
#define ALL_ROWS(a, b, c, d, e, f)                                        \
  ROW(a.x, e, f, sum0a, sum0b) ROW(a.y, e, f, sum1a, sum1b) ROW(a.z, e, f, sum2a, sum2b) ROW(a.w, e, f, sum3a, sum3b) \
  ROW(b.x, e, f, sum4a, sum4b) ROW(b.y, e, f, sum5a, sum5b) ROW(b.z, e, f, sum6a, sum6b) ROW(b.w, e, f, sum7a, sum7b)
#endif
#define TAKE(buffer, k, a, b, c, d, e, f) \
  TAKE_LEFT(buffer, k, a, b, c, d)        \
  e = RIGHT_AT(buffer, k, 0);             \
  f = RIGHT_AT(buffer, k, 1);

#if PREFETCH
// Two sets of fragments, one being filled while the other is worked with.
#define TAKE_EVEN(buffer, k) TAKE(buffer, k, even_a, even_b, even_c, even_d, even_e, even_f)
#define TAKE_ODD(buffer, k) TAKE(buffer, k, odd_a, odd_b, odd_c, odd_d, odd_e, odd_f)
#define DO_EVEN ALL_ROWS(even_a, even_b, even_c, even_d, even_e, even_f)
#define DO_ODD ALL_ROWS(odd_a, odd_b, odd_c, odd_d, odd_e, odd_f)
#define STAGE(buffer)                                                                     \
  {                                                                                       \
    Vector even_a, even_b, even_c, even_d, even_e, even_f;                                \
    Vector odd_a, odd_b, odd_c, odd_d, odd_e, odd_f;                                      \
    TAKE_EVEN(buffer, 0)                                                                  \
    TAKE_ODD(buffer, 1) DO_EVEN TAKE_EVEN(buffer, 2) DO_ODD                               \
    TAKE_ODD(buffer, 3) DO_EVEN TAKE_EVEN(buffer, 4) DO_ODD                               \
    TAKE_ODD(buffer, 5) DO_EVEN TAKE_EVEN(buffer, 6) DO_ODD                               \
    TAKE_ODD(buffer, 7) DO_EVEN DO_ODD                                                    \
  }
#else
#define STEP(buffer, k)                                                                   \
  {                                                                                       \
    Vector left_a, left_b, left_c, left_d, right_a, right_b;                              \
    TAKE(buffer, k, left_a, left_b, left_c, left_d, right_a, right_b)                     \
    ALL_ROWS(left_a, left_b, left_c, left_d, right_a, right_b)                            \
  }
#if UNROLLED
#define STAGE(buffer)                                             \
  STEP(buffer, 0) STEP(buffer, 1) STEP(buffer, 2) STEP(buffer, 3) \
  STEP(buffer, 4) STEP(buffer, 5) STEP(buffer, 6) STEP(buffer, 7)
#else
#define STAGE(buffer) for (int k = 0; k < STAGE_DEPTH; ++k) STEP(buffer, k)
#endif
#endif

// --- Moving tiles: registers <- memory, shared memory <- registers --------------------------------------------------
// An invocation fetches one, two or four vectors of each input, the next one lying LEFT_STEP or RIGHT_STEP rows of depth
// below. fetch_k: the row of depth at which the tile to be fetched begins.
#define LEFT_STEP (THREADS / LEFT_VECTORS)
#define RIGHT_STEP (THREADS / RIGHT_VECTORS)

#define FETCH_LEFT_PART(part, into) \
  into = READ_LEFT(left_at + (part) * left_step, fetch_k + left_k + (part) * LEFT_STEP, left_row, valid_left);
#define FETCH_RIGHT_PART(part, into) \
  into = READ_RIGHT(right_at + (part) * right_step, fetch_k + right_k + (part) * RIGHT_STEP, right_column, valid_right);
#define STORE_LEFT_PART(buffer, part, from) \
  left_tile[(buffer) * STAGE_DEPTH * LEFT_VECTORS + (part) * THREADS + thread] = from;
#define STORE_RIGHT_PART(buffer, part, from) \
  right_tile[(buffer) * STAGE_DEPTH * RIGHT_VECTORS + (part) * THREADS + thread] = from;

#if STAGE_DEPTH / LEFT_STEP == 1
#define FETCH_LEFT FETCH_LEFT_PART(0, fetched_left_a)
#define STORE_LEFT(buffer) STORE_LEFT_PART(buffer, 0, fetched_left_a)
#elif STAGE_DEPTH / LEFT_STEP == 2
#define FETCH_LEFT FETCH_LEFT_PART(0, fetched_left_a) FETCH_LEFT_PART(1, fetched_left_b)
#define STORE_LEFT(buffer) STORE_LEFT_PART(buffer, 0, fetched_left_a) STORE_LEFT_PART(buffer, 1, fetched_left_b)
#else
#define FETCH_LEFT                                                           \
  FETCH_LEFT_PART(0, fetched_left_a) FETCH_LEFT_PART(1, fetched_left_b)      \
  FETCH_LEFT_PART(2, fetched_left_c) FETCH_LEFT_PART(3, fetched_left_d)
#define STORE_LEFT(buffer)                                                                   \
  STORE_LEFT_PART(buffer, 0, fetched_left_a) STORE_LEFT_PART(buffer, 1, fetched_left_b)      \
  STORE_LEFT_PART(buffer, 2, fetched_left_c) STORE_LEFT_PART(buffer, 3, fetched_left_d)
#endif

#if STAGE_DEPTH / RIGHT_STEP == 1
#define FETCH_RIGHT FETCH_RIGHT_PART(0, fetched_right_a)
#define STORE_RIGHT(buffer) STORE_RIGHT_PART(buffer, 0, fetched_right_a)
#else
#define FETCH_RIGHT FETCH_RIGHT_PART(0, fetched_right_a) FETCH_RIGHT_PART(1, fetched_right_b)
#define STORE_RIGHT(buffer) STORE_RIGHT_PART(buffer, 0, fetched_right_a) STORE_RIGHT_PART(buffer, 1, fetched_right_b)
#endif

#define FETCH                                            \
  FETCH_LEFT FETCH_RIGHT                                 \
  left_at += STAGE_DEPTH / LEFT_STEP * left_step;        \
  right_at += STAGE_DEPTH / RIGHT_STEP * right_step;     \
  fetch_k += STAGE_DEPTH;
#define STORE(buffer) STORE_LEFT(buffer) STORE_RIGHT(buffer)

// --- Writing a row of results back ----------------------------------------------------------------------------------
#define ROW_OF(i) (first_row + ((i) / VECTOR_WIDTH) * VECTOR_WIDTH * DOWN + (i) % VECTOR_WIDTH)
#define SECOND (ACROSS * VECTOR_WIDTH)

#define WRITE(i, sum_a, sum_b)                \
  update(ROW_OF(i), first_column, sum_a);   \
  update(ROW_OF(i), first_column + SECOND, sum_b);
#define WRITE_EDGE(i, sum_a, sum_b)                                                        \
  if (ROW_OF(i) < extents.x) {                                                             \
    update_edge(ROW_OF(i), first_column, extents.y - first_column, sum_a);               \
    update_edge(ROW_OF(i), first_column + SECOND, extents.y - first_column - SECOND, sum_b); \
  }
#define WRITE_ALL(write)                                                                          \
  write(0, sum0a, sum0b) write(1, sum1a, sum1b) write(2, sum2a, sum2b) write(3, sum3a, sum3b)     \
  write(4, sum4a, sum4b) write(5, sum5a, sum5b) write(6, sum6a, sum6b) write(7, sum7a, sum7b)

int last_vector(int extent) { return (extent - 1) / VECTOR_WIDTH * VECTOR_WIDTH; }

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

  // what this invocation fetches; beyond the edge it fetches the last vector again, whose sums nobody writes
  int left_k = thread / LEFT_VECTORS, left_row = tile_row + (thread % LEFT_VECTORS) * VECTOR_WIDTH;
  int right_k = thread / RIGHT_VECTORS, right_column = tile_column + (thread % RIGHT_VECTORS) * VECTOR_WIDTH;
  int valid_left = extents.x - left_row, valid_right = extents.y - right_column;
  int left_at = place(left_layout, left_k, min(left_row, last_vector(extents.x))) / VECTOR_WIDTH;
  int right_at = place(right_layout, right_k, min(right_column, last_vector(extents.y))) / VECTOR_WIDTH;
  int left_step = LEFT_STEP * left_layout.y / VECTOR_WIDTH, right_step = RIGHT_STEP * right_layout.y / VECTOR_WIDTH;
  Vector fetched_left_a, fetched_left_b, fetched_left_c, fetched_left_d, fetched_right_a, fetched_right_b;
  int fetch_k = 0;

  // what it works on
  int left_from = down, right_from = across;
  Vector sum0a = Vector(0), sum0b = Vector(0), sum1a = Vector(0), sum1b = Vector(0);
  Vector sum2a = Vector(0), sum2b = Vector(0), sum3a = Vector(0), sum3b = Vector(0);
  Vector sum4a = Vector(0), sum4b = Vector(0), sum5a = Vector(0), sum5b = Vector(0);
  Vector sum6a = Vector(0), sum6b = Vector(0), sum7a = Vector(0), sum7b = Vector(0);

  FETCH
  STORE(0)
  barrier();
  for (int done = 0; done < depth; done += 2 * STAGE_DEPTH) {
    bool more = done + 2 * STAGE_DEPTH < depth;
    FETCH
    STAGE(0)
    STORE(1)
    barrier();
    if (more) {
      FETCH
    }
    STAGE(1)
    if (more) {
      STORE(0)
    }
    barrier();
  }

  int first_row = tile_row + down * VECTOR_WIDTH, first_column = tile_column + across * VECTOR_WIDTH;
  if (tile_row + TILE_ROWS <= extents.x && tile_column + RIGHT_VECTORS * VECTOR_WIDTH <= extents.y) {
    WRITE_ALL(WRITE)
  } else {
    WRITE_ALL(WRITE_EDGE)
  }
}
