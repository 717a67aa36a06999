// A work group's tile of a matrix product, sums over k of left(k, i) right(k, j), and how it is subtracted from a
// result: what reduce.comp and normalize.comp have in common. To be included behind the buffers, of which one is
// `result` with `result_layout`; who includes this defines READ_LEFT and READ_RIGHT, which read a vector by its place
// among the vectors, or by its row of depth and column; `valid` of its elements exist.

#define THREADS (ACROSS * DOWN)
#define STAGE_DEPTH 8
#define TILE_ROWS (8 * DOWN)
#define LEFT_VECTORS (TILE_ROWS / VECTOR_WIDTH)
#define RIGHT_VECTORS (2 * ACROSS)

layout(local_size_x = THREADS) in;

shared Vector left_tile[2 * STAGE_DEPTH * LEFT_VECTORS];
shared Vector right_tile[2 * STAGE_DEPTH * RIGHT_VECTORS];

// --- Loading -------------------------------------------------------------------------------------------------------
// A function that reads a vector of which `valid` elements exist.
#define READ(name, source, layout_of)                                 \
  Vector name(int k, int column, int valid) {                         \
    Vector value = Vector(0);                                         \
    if (valid > 0) value.x = source[place(layout_of, k, column)];     \
    if (valid > 1) value.y = source[place(layout_of, k, column + 1)]; \
    READ_UPPER(source, layout_of)                                     \
    return value;                                                     \
  }
#if DOUBLE
#define READ_UPPER(source, layout_of)
#else
#define READ_UPPER(source, layout_of)                               \
  if (valid > 2) value.z = source[place(layout_of, k, column + 2)]; \
  if (valid > 3) value.w = source[place(layout_of, k, column + 3)];
#endif

// --- Storing -------------------------------------------------------------------------------------------------------
#if ALIGNED
void subtract(int row, int column, Vector sum) { result[place(result_layout, row, column) / VECTOR_WIDTH] -= sum; }
void subtract_edge(int row, int column, int valid, Vector sum) {
  int at = place(result_layout, row, column) / VECTOR_WIDTH;
  if (valid > 0) result[at].x -= sum.x;
  if (valid > 1) result[at].y -= sum.y;
#if !DOUBLE
  if (valid > 2) result[at].z -= sum.z;
  if (valid > 3) result[at].w -= sum.w;
#endif
}
#else
void subtract_edge(int row, int column, int valid, Vector sum) {
  if (valid > 0) result[place(result_layout, row, column)] -= sum.x;
  if (valid > 1) result[place(result_layout, row, column + 1)] -= sum.y;
#if !DOUBLE
  if (valid > 2) result[place(result_layout, row, column + 2)] -= sum.z;
  if (valid > 3) result[place(result_layout, row, column + 3)] -= sum.w;
#endif
}
void subtract(int row, int column, Vector sum) { subtract_edge(row, column, VECTOR_WIDTH, sum); }
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

// --- The product ----------------------------------------------------------------------------------------------------
#define FETCHED \
  Vector fetched_left_a, fetched_left_b, fetched_left_c, fetched_left_d, fetched_right_a, fetched_right_b;
#define SUMS                                                                               \
  Vector sum0a = Vector(0), sum0b = Vector(0), sum1a = Vector(0), sum1b = Vector(0);       \
  Vector sum2a = Vector(0), sum2b = Vector(0), sum3a = Vector(0), sum3b = Vector(0);       \
  Vector sum4a = Vector(0), sum4b = Vector(0), sum5a = Vector(0), sum5b = Vector(0);       \
  Vector sum6a = Vector(0), sum6b = Vector(0), sum7a = Vector(0), sum7b = Vector(0);

// Sums over rows [from, to) of depth: to - from counts as the next multiple of 16.
#define ADD_PRODUCTS(from, to)                                       \
  FETCH                                                              \
  STORE(0)                                                           \
  barrier();                                                         \
  for (int done = from; done < to; done += 2 * STAGE_DEPTH) {        \
    bool more = done + 2 * STAGE_DEPTH < to;                         \
    FETCH                                                            \
    STAGE(0)                                                         \
    STORE(1)                                                         \
    barrier();                                                       \
    if (more) {                                                      \
      FETCH                                                          \
    }                                                                \
    STAGE(1)                                                         \
    if (more) {                                                      \
      STORE(0)                                                       \
    }                                                                \
    barrier();                                                       \
  }

// --- Writing a row of results back ----------------------------------------------------------------------------------
#define ROW_OF(i) (first_row + ((i) / VECTOR_WIDTH) * VECTOR_WIDTH * DOWN + (i) % VECTOR_WIDTH)
#define SECOND (ACROSS * VECTOR_WIDTH)

#define WRITE(i, sum_a, sum_b)                \
  subtract(ROW_OF(i), first_column, sum_a);   \
  subtract(ROW_OF(i), first_column + SECOND, sum_b);
#define WRITE_EDGE(i, sum_a, sum_b)                                                        \
  if (ROW_OF(i) < extents.x) {                                                             \
    subtract_edge(ROW_OF(i), first_column, extents.y - first_column, sum_a);               \
    subtract_edge(ROW_OF(i), first_column + SECOND, extents.y - first_column - SECOND, sum_b); \
  }
#define WRITE_ALL(write)                                                                          \
  write(0, sum0a, sum0b) write(1, sum1a, sum1b) write(2, sum2a, sum2b) write(3, sum3a, sum3b)     \
  write(4, sum4a, sum4b) write(5, sum5a, sum5b) write(6, sum6a, sum6b) write(7, sum7a, sum7b)

int last_vector(int extent) { return (extent - 1) / VECTOR_WIDTH * VECTOR_WIDTH; }
