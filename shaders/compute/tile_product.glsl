// A work group's tile of a matrix product, sums over k of left(k, i) right(k, j), and how it changes a result: what
// update.comp and solve_u12.comp have in common. To be included after the buffers, of which one is `result` with
// `result_layout`. The file that includes this then defines READ_LEFT and READ_RIGHT: they read a vector by its place
// among the vectors, or by its row of depth and column; `valid` of its elements exist.

#define THREADS (ACROSS * DOWN)
#define TILE_ROWS (8 * DOWN)
#define LEFT_VECTORS (TILE_ROWS / VECTOR_WIDTH)
#define RIGHT_VECTORS (VECTORS_EACH * ACROSS)

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
// UPDATE is - or +.
#if ALIGNED
void update(int row, int column, Vector sum) {
  int at = place(result_layout, row, column) / VECTOR_WIDTH;
  result[at] = result[at] UPDATE sum;
}
void update_edge(int row, int column, int valid, Vector sum) {
  int at = place(result_layout, row, column) / VECTOR_WIDTH;
  if (valid > 0) result[at].x = result[at].x UPDATE sum.x;
  if (valid > 1) result[at].y = result[at].y UPDATE sum.y;
#if !DOUBLE
  if (valid > 2) result[at].z = result[at].z UPDATE sum.z;
  if (valid > 3) result[at].w = result[at].w UPDATE sum.w;
#endif
}
#else
void update_element(int at, Real sum) { result[at] = result[at] UPDATE sum; }
void update_edge(int row, int column, int valid, Vector sum) {
  if (valid > 0) update_element(place(result_layout, row, column), sum.x);
  if (valid > 1) update_element(place(result_layout, row, column + 1), sum.y);
#if !DOUBLE
  if (valid > 2) update_element(place(result_layout, row, column + 2), sum.z);
  if (valid > 3) update_element(place(result_layout, row, column + 3), sum.w);
#endif
}
void update(int row, int column, Vector sum) { update_edge(row, column, VECTOR_WIDTH, sum); }
#endif

// --- One step of depth: 8 rows x VECTORS_EACH vectors ---------------------------------------------------------------
// Macros have room for four vectors across; what is beyond VECTORS_EACH is not declared, and not used.
#if VECTORS_EACH == 1
#define ROW(factor, e, f, g, h, sum_a, sum_b, sum_c, sum_d) sum_a = fma(Vector(factor), e, sum_a);
#elif VECTORS_EACH == 2
#define ROW(factor, e, f, g, h, sum_a, sum_b, sum_c, sum_d) \
  sum_a = fma(Vector(factor), e, sum_a);                    \
  sum_b = fma(Vector(factor), f, sum_b);
#elif VECTORS_EACH == 3
#define ROW(factor, e, f, g, h, sum_a, sum_b, sum_c, sum_d) \
  sum_a = fma(Vector(factor), e, sum_a);                    \
  sum_b = fma(Vector(factor), f, sum_b);                    \
  sum_c = fma(Vector(factor), g, sum_c);
#else
#define ROW(factor, e, f, g, h, sum_a, sum_b, sum_c, sum_d) \
  sum_a = fma(Vector(factor), e, sum_a);                    \
  sum_b = fma(Vector(factor), f, sum_b);                    \
  sum_c = fma(Vector(factor), g, sum_c);                    \
  sum_d = fma(Vector(factor), h, sum_d);
#endif

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
#define ALL_ROWS(a, b, c, d, e, f, g, h)                \
  ROW(a.x, e, f, g, h, sum0a, sum0b, sum0c, sum0d)      \
  ROW(a.y, e, f, g, h, sum1a, sum1b, sum1c, sum1d)      \
  ROW(b.x, e, f, g, h, sum2a, sum2b, sum2c, sum2d)      \
  ROW(b.y, e, f, g, h, sum3a, sum3b, sum3c, sum3d)      \
  ROW(c.x, e, f, g, h, sum4a, sum4b, sum4c, sum4d)      \
  ROW(c.y, e, f, g, h, sum5a, sum5b, sum5c, sum5d)      \
  ROW(d.x, e, f, g, h, sum6a, sum6b, sum6c, sum6d)      \
  ROW(d.y, e, f, g, h, sum7a, sum7b, sum7c, sum7d)
#else
#define TAKE_LEFT(buffer, k, a, b, c, d) \
  a = LEFT_AT(buffer, k, 0);             \
  b = LEFT_AT(buffer, k, 1);
#define ALL_ROWS(a, b, c, d, e, f, g, h)                \
  ROW(a.x, e, f, g, h, sum0a, sum0b, sum0c, sum0d)      \
  ROW(a.y, e, f, g, h, sum1a, sum1b, sum1c, sum1d)      \
  ROW(a.z, e, f, g, h, sum2a, sum2b, sum2c, sum2d)      \
  ROW(a.w, e, f, g, h, sum3a, sum3b, sum3c, sum3d)      \
  ROW(b.x, e, f, g, h, sum4a, sum4b, sum4c, sum4d)      \
  ROW(b.y, e, f, g, h, sum5a, sum5b, sum5c, sum5d)      \
  ROW(b.z, e, f, g, h, sum6a, sum6b, sum6c, sum6d)      \
  ROW(b.w, e, f, g, h, sum7a, sum7b, sum7c, sum7d)
#endif
#define TAKE_RIGHT_2(buffer, k, e, f) \
  e = RIGHT_AT(buffer, k, 0);         \
  f = RIGHT_AT(buffer, k, 1);
#if VECTORS_EACH == 1
#define TAKE_RIGHT(buffer, k, e, f, g, h) e = RIGHT_AT(buffer, k, 0);
#elif VECTORS_EACH == 2
#define TAKE_RIGHT(buffer, k, e, f, g, h) TAKE_RIGHT_2(buffer, k, e, f)
#elif VECTORS_EACH == 3
#define TAKE_RIGHT(buffer, k, e, f, g, h) TAKE_RIGHT_2(buffer, k, e, f) g = RIGHT_AT(buffer, k, 2);
#else
#define TAKE_RIGHT(buffer, k, e, f, g, h) \
  TAKE_RIGHT_2(buffer, k, e, f)           \
  g = RIGHT_AT(buffer, k, 2);             \
  h = RIGHT_AT(buffer, k, 3);
#endif
#define TAKE(buffer, k, a, b, c, d, e, f, g, h) \
  TAKE_LEFT(buffer, k, a, b, c, d)              \
  TAKE_RIGHT(buffer, k, e, f, g, h)

#if PREFETCH
// Two sets of fragments, one being filled while the other is worked with.
#define TAKE_EVEN(buffer, k) TAKE(buffer, k, even_a, even_b, even_c, even_d, even_e, even_f, even_g, even_h)
#define TAKE_ODD(buffer, k) TAKE(buffer, k, odd_a, odd_b, odd_c, odd_d, odd_e, odd_f, odd_g, odd_h)
#define DO_EVEN ALL_ROWS(even_a, even_b, even_c, even_d, even_e, even_f, even_g, even_h)
#define DO_ODD ALL_ROWS(odd_a, odd_b, odd_c, odd_d, odd_e, odd_f, odd_g, odd_h)
#define STEPS_TO(buffer, k) TAKE_ODD(buffer, k - 1) DO_EVEN TAKE_EVEN(buffer, k) DO_ODD
#if STAGE_DEPTH == 4
#define STEPS(buffer) STEPS_TO(buffer, 2) TAKE_ODD(buffer, 3)
#else
#define STEPS(buffer) STEPS_TO(buffer, 2) STEPS_TO(buffer, 4) STEPS_TO(buffer, 6) TAKE_ODD(buffer, 7)
#endif
#define STAGE(buffer)                                                      \
  {                                                                        \
    Vector even_a, even_b, even_c, even_d, even_e, even_f, even_g, even_h; \
    Vector odd_a, odd_b, odd_c, odd_d, odd_e, odd_f, odd_g, odd_h;         \
    TAKE_EVEN(buffer, 0)                                                   \
    STEPS(buffer)                                                          \
    DO_EVEN DO_ODD                                                         \
  }
#else
#define STEP(buffer, k)                                                                          \
  {                                                                                              \
    Vector left_a, left_b, left_c, left_d, right_a, right_b, right_c, right_d;                   \
    TAKE(buffer, k, left_a, left_b, left_c, left_d, right_a, right_b, right_c, right_d)          \
    ALL_ROWS(left_a, left_b, left_c, left_d, right_a, right_b, right_c, right_d)                 \
  }
#define STEPS_FROM(buffer, k) STEP(buffer, k) STEP(buffer, k + 1) STEP(buffer, k + 2) STEP(buffer, k + 3)
#if UNROLLED && STAGE_DEPTH == 4
#define STAGE(buffer) STEPS_FROM(buffer, 0)
#elif UNROLLED
#define STAGE(buffer) STEPS_FROM(buffer, 0) STEPS_FROM(buffer, 4)
#else
#define STAGE(buffer) for (int k = 0; k < STAGE_DEPTH; ++k) STEP(buffer, k)
#endif
#endif

// --- Moving tiles: registers <- memory, shared memory <- registers --------------------------------------------------
// An invocation fetches one, two or four vectors of each input, the next one lying LEFT_STEP or RIGHT_STEP rows of
// depth below; or three of the right where they have places of their own, since invocations do not make whole rows. fetch_k:
// the row of depth at which the tile to be fetched begins.
#define LEFT_STEP (THREADS / LEFT_VECTORS)
#define RIGHT_WHOLE (THREADS % RIGHT_VECTORS == 0)
#if RIGHT_WHOLE
#define RIGHT_STEP (THREADS / RIGHT_VECTORS)
#else
#define RIGHT_STEP STAGE_DEPTH
#endif

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

#if !RIGHT_WHOLE  // of aligned inputs only
#define FETCH_RIGHT                 \
  fetched_right_a = right[right_at];  \
  fetched_right_b = right[right_at_b]; \
  fetched_right_c = right[right_at_c];
#define STORE_RIGHT(buffer)                                                                    \
  STORE_RIGHT_PART(buffer, 0, fetched_right_a) STORE_RIGHT_PART(buffer, 1, fetched_right_b)    \
  STORE_RIGHT_PART(buffer, 2, fetched_right_c)
#elif STAGE_DEPTH / RIGHT_STEP == 1
#define FETCH_RIGHT FETCH_RIGHT_PART(0, fetched_right_a)
#define STORE_RIGHT(buffer) STORE_RIGHT_PART(buffer, 0, fetched_right_a)
#elif STAGE_DEPTH / RIGHT_STEP == 2
#define FETCH_RIGHT FETCH_RIGHT_PART(0, fetched_right_a) FETCH_RIGHT_PART(1, fetched_right_b)
#define STORE_RIGHT(buffer) STORE_RIGHT_PART(buffer, 0, fetched_right_a) STORE_RIGHT_PART(buffer, 1, fetched_right_b)
#else
#define FETCH_RIGHT                                                          \
  FETCH_RIGHT_PART(0, fetched_right_a) FETCH_RIGHT_PART(1, fetched_right_b)  \
  FETCH_RIGHT_PART(2, fetched_right_c) FETCH_RIGHT_PART(3, fetched_right_d)
#define STORE_RIGHT(buffer)                                                                    \
  STORE_RIGHT_PART(buffer, 0, fetched_right_a) STORE_RIGHT_PART(buffer, 1, fetched_right_b)    \
  STORE_RIGHT_PART(buffer, 2, fetched_right_c) STORE_RIGHT_PART(buffer, 3, fetched_right_d)
#endif
#if RIGHT_WHOLE
#define ADVANCE_OTHERS
#else
#define ADVANCE_OTHERS      \
  right_at_b += right_step; \
  right_at_c += right_step;
#endif

#define FETCH                                            \
  FETCH_LEFT FETCH_RIGHT                                 \
  left_at += STAGE_DEPTH / LEFT_STEP * left_step;        \
  right_at += STAGE_DEPTH / RIGHT_STEP * right_step;     \
  ADVANCE_OTHERS                                         \
  fetch_k += STAGE_DEPTH;
#define STORE(buffer) STORE_LEFT(buffer) STORE_RIGHT(buffer)

// --- The product ----------------------------------------------------------------------------------------------------
#define FETCHED                                                              \
  Vector fetched_left_a, fetched_left_b, fetched_left_c, fetched_left_d;     \
  Vector fetched_right_a, fetched_right_b, fetched_right_c, fetched_right_d;
#define SUM(a, b, c, d) Vector a = Vector(0), b = Vector(0), c = Vector(0), d = Vector(0);
#define SUMS                                                              \
  SUM(sum0a, sum0b, sum0c, sum0d) SUM(sum1a, sum1b, sum1c, sum1d)         \
  SUM(sum2a, sum2b, sum2c, sum2d) SUM(sum3a, sum3b, sum3c, sum3d)         \
  SUM(sum4a, sum4b, sum4c, sum4d) SUM(sum5a, sum5b, sum5c, sum5d)         \
  SUM(sum6a, sum6b, sum6c, sum6d) SUM(sum7a, sum7b, sum7c, sum7d)

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
#define COLUMN_OF(group) (first_column + (group) * ACROSS * VECTOR_WIDTH)

#define UPDATE_GROUP(i, group, sum) update(ROW_OF(i), COLUMN_OF(group), sum);
#define UPDATE_EDGE_GROUP(i, group, sum) \
  update_edge(ROW_OF(i), COLUMN_OF(group), extents.y - COLUMN_OF(group), sum);
#if VECTORS_EACH == 1
#define WRITE_ROW(write, i, a, b, c, d) write(i, 0, a)
#elif VECTORS_EACH == 2
#define WRITE_ROW(write, i, a, b, c, d) write(i, 0, a) write(i, 1, b)
#elif VECTORS_EACH == 3
#define WRITE_ROW(write, i, a, b, c, d) write(i, 0, a) write(i, 1, b) write(i, 2, c)
#else
#define WRITE_ROW(write, i, a, b, c, d) write(i, 0, a) write(i, 1, b) write(i, 2, c) write(i, 3, d)
#endif
int last_vector(int extent) { return (extent - 1) / VECTOR_WIDTH * VECTOR_WIDTH; }

#define WRITE_ALL(write)                                                               \
  write(0, sum0a, sum0b, sum0c, sum0d) write(1, sum1a, sum1b, sum1c, sum1d)            \
  write(2, sum2a, sum2b, sum2c, sum2d) write(3, sum3a, sum3b, sum3c, sum3d)            \
  write(4, sum4a, sum4b, sum4c, sum4d) write(5, sum5a, sum5b, sum5c, sum5d)            \
  write(6, sum6a, sum6b, sum6c, sum6d) write(7, sum7a, sum7b, sum7c, sum7d)

#if LOADS_BEFORE_STORES
// Reads all elements before any write. Otherwise each read would wait for the previous write, since the compiler cannot
// prove that their addresses differ. Beyond the edge, the last row or vector is read again.
Vector element(int row, int column) { return result[place(result_layout, row, column) / VECTOR_WIDTH]; }
void put(int row, int column, Vector value) { result[place(result_layout, row, column) / VECTOR_WIDTH] = value; }
void put_edge(int row, int column, int valid, Vector value) {
  int at = place(result_layout, row, column) / VECTOR_WIDTH;
  if (valid >= VECTOR_WIDTH) {
    result[at] = value;
    return;
  }
  if (valid > 0) result[at].x = value.x;
#if !DOUBLE
  if (valid > 1) result[at].y = value.y;
  if (valid > 2) result[at].z = value.z;
#endif
}
#define UPDATED_GROUP(i, group, sum) sum = element(ROW_OF(i), COLUMN_OF(group)) UPDATE sum;
#define UPDATED_EDGE_GROUP(i, group, sum) \
  sum = element(min(ROW_OF(i), extents.x - 1), min(COLUMN_OF(group), last_vector(extents.y))) UPDATE sum;
#define PUT_GROUP(i, group, sum) put(ROW_OF(i), COLUMN_OF(group), sum);
#define PUT_EDGE_GROUP(i, group, sum) \
  if (ROW_OF(i) < extents.x) put_edge(ROW_OF(i), COLUMN_OF(group), extents.y - COLUMN_OF(group), sum);
#define UPDATED(i, a, b, c, d) WRITE_ROW(UPDATED_GROUP, i, a, b, c, d)
#define UPDATED_EDGE(i, a, b, c, d) WRITE_ROW(UPDATED_EDGE_GROUP, i, a, b, c, d)
#define PUT(i, a, b, c, d) WRITE_ROW(PUT_GROUP, i, a, b, c, d)
#define PUT_EDGE(i, a, b, c, d) WRITE_ROW(PUT_EDGE_GROUP, i, a, b, c, d)
#define WRITE_TILE WRITE_ALL(UPDATED) WRITE_ALL(PUT)
#define WRITE_TILE_EDGE WRITE_ALL(UPDATED_EDGE) WRITE_ALL(PUT_EDGE)
#else
#define UPDATE_ROW(i, a, b, c, d) WRITE_ROW(UPDATE_GROUP, i, a, b, c, d)
#define UPDATE_EDGE(i, a, b, c, d)                \
  if (ROW_OF(i) < extents.x) {                      \
    WRITE_ROW(UPDATE_EDGE_GROUP, i, a, b, c, d)   \
  }
#define WRITE_TILE WRITE_ALL(UPDATE_ROW)
#define WRITE_TILE_EDGE WRITE_ALL(UPDATE_EDGE)
#endif
