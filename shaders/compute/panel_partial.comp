#version 450 core
// P A = L U of a whole panel in one dispatch, by partial pivoting. The panel is transposed, so adjacent rows of the
// matrix are adjacent in memory. The work groups wait for each other, so all of them must run at the same time. A work
// group has consecutive rows, an invocation one row in each of `slabs` slabs of ROWS_PER_GROUP rows.
//
// For every block of 32 columns:
//   1. Column by column: each group publishes its candidate row, all groups read all candidates, and the largest is the
//      pivot row. Rows keep their places. Data is its own flag: slots are `empty` until they are written, so a column
//      costs one trip through memory, not two.
//   2. Grid barrier. Pivot rows move to the top, in all columns of the panel; U12 <- L11^-1 A12 to the right.
//   3. Grid barrier. A22 <- A22 - L21 U12, each group in its own rows.
// The order of all operations on an element is the same for any number of groups, and so are the results.
//
// Variants:
//   DOUBLE     double precision
//   STREAMED   slabs > 1: rows of a block are read and written for every column; otherwise they stay in registers
//   SUBGROUPS  subgroup reductions
//   SOFTWARE   the processor computes
//   DELAYS     for tests: random delays before a row is published and before a group arrives
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"
#include "compute/panel_row.glsl"

#define TEAM (2 * BLOCK)  // invocations that move the rows of one column
#define TEAMS (ROWS_PER_GROUP / TEAM)
#define CHUNK 32  // columns of U12 in shared memory

layout(local_size_x = ROWS_PER_GROUP) in;

layout(std430, binding = 0) coherent buffer Panel { Real panel[]; };
layout(std430, binding = 1) coherent volatile buffer Slots { uvec4 slots[]; };
layout(std430, binding = 2) coherent volatile buffer Arrivals { uint arrived; };
// of the block: L11 \ U11 by rows, and the rows that became pivots
layout(std430, binding = 3) coherent buffer Chosen { Real factors[BLOCK * BLOCK]; int chosen[BLOCK]; };
// in host memory, which the host reads while the dispatch runs
layout(std430, binding = 4) coherent volatile writeonly buffer Outcome {
  int zero_column;
  int gave_up;
  int interchanges[];
};

UNIFORMS
UNIFORM(0, ivec4) panel_layout;
UNIFORM(1, ivec4) shape;    // rows and columns of the panel, work groups, slabs
// arrivals before this dispatch; most polls of a wait; slots of a panel; which half of the slots is this panel's
UNIFORM(2, ivec4) waiting;
END_UNIFORMS

const int no_row = -1;
const uint empty = 0xffffffffu;         // a word of a slot that is not written yet
const uint no_candidate = 0xfffffffeu;  // the first word of a group that has no rows left
const uint largest_word = 0xfffffffdu;  // of an element: NaNs above it become this one

#if SUBGROUPS
#define KEYS (ROWS_PER_GROUP / 8)  // upper limit: a subgroup has at least 8 invocations
#else
#define KEYS ROWS_PER_GROUP
#endif
shared uint keys_high[KEYS];
#if DOUBLE
shared uint keys_low[KEYS];
#endif
shared int key_rows[KEYS];
shared uvec4 candidates[MAX_GROUPS * ROW_VECTORS];
shared uint stop;
shared int pivot_rows[BLOCK];
shared int exchanged_with[BLOCK];
shared ivec2 moves[TEAM];                       // from, to; or no_row
shared Real l11[BLOCK * (BLOCK + 1)];           // by rows a bank apart
shared Real top[TEAMS * BLOCK];
shared Vector u12[CHUNK * ROW_VECTORS];         // by columns

int me = 0, group = 0, rows = 0, columns = 0, groups = 0, slabs = 0;
uint crossed = 0;  // grid barriers

// A candidate: the key of its element in the current column, and its row. The best has the largest magnitude; of equal
// ones, the first row. Key 0 means no candidate. NaN has the largest key, so that it becomes a pivot and shows.
struct Candidate {
  uint high;
#if DOUBLE
  uint low;
#endif
  int row;
};
#if DOUBLE
#define NO_CANDIDATE Candidate(0u, 0u, 0x7fffffff)
Candidate candidate_of(uvec4 words, int row) {
  return words.y == no_candidate ? NO_CANDIDATE : Candidate((words.y & 0x7fffffffu) + 1, words.x, row);
}
bool is_better(Candidate a, Candidate b) {
  if (a.high != b.high) return a.high > b.high;
  return a.low != b.low ? a.low > b.low : a.row < b.row;
}
uvec4 words_of(Vector v) { return min(uvec4(unpackDouble2x32(v.x), unpackDouble2x32(v.y)), uvec4(largest_word)); }
Vector vector_of(uvec4 words) { return Vector(packDouble2x32(words.xy), packDouble2x32(words.zw)); }
Vector live_part(int from, int live, Vector v) {
  return mix(Vector(0), v, lessThan(ivec2(from, from + 1), ivec2(live)));
}
#else
#define NO_CANDIDATE Candidate(0u, 0x7fffffff)
Candidate candidate_of(uvec4 words, int row) {
  return words.x == no_candidate ? NO_CANDIDATE : Candidate((words.x & 0x7fffffffu) + 1, row);
}
bool is_better(Candidate a, Candidate b) { return a.high != b.high ? a.high > b.high : a.row < b.row; }
uvec4 words_of(Vector v) { return min(floatBitsToUint(v), uvec4(largest_word)); }
Vector vector_of(uvec4 words) { return uintBitsToFloat(words); }
Vector live_part(int from, int live, Vector v) {
  return mix(Vector(0), v, lessThan(ivec4(from, from + 1, from + 2, from + 3), ivec4(live)));
}
#endif

#if SUBGROUPS
Candidate best_of_subgroup(Candidate mine) {
  Candidate best = mine;
  best.high = subgroupMax(mine.high);
#if DOUBLE
  best.low = subgroupMax(mine.high == best.high ? mine.low : 0u);
  bool leads = mine.high == best.high && mine.low == best.low;
#else
  bool leads = mine.high == best.high;
#endif
  best.row = subgroupMin(leads ? mine.row : 0x7fffffff);
  return best;
}
#endif

Candidate key_at(int i) {
#if DOUBLE
  return Candidate(keys_high[i], keys_low[i], key_rows[i]);
#else
  return Candidate(keys_high[i], key_rows[i]);
#endif
}
void set_key(int i, Candidate c) {
  keys_high[i] = c.high;
#if DOUBLE
  keys_low[i] = c.low;
#endif
  key_rows[i] = c.row;
}

// The best of the work group's candidates. All invocations take part.
Candidate best_of_group(Candidate mine) {
#if SUBGROUPS
  mine = best_of_subgroup(mine);
  if (gl_SubgroupInvocationID == 0) set_key(int(gl_SubgroupID), mine);
  barrier();
  Candidate best = NO_CANDIDATE;
  for (int i = int(gl_SubgroupInvocationID); i < int(gl_NumSubgroups); i += int(gl_SubgroupSize)) {
    if (is_better(key_at(i), best)) best = key_at(i);
  }
  return best_of_subgroup(best);
#else
  set_key(me, mine);
  barrier();
  for (int stride = ROWS_PER_GROUP / 2; stride > 0; stride /= 2) {
    if (me < stride && is_better(key_at(me + stride), key_at(me))) set_key(me, key_at(me + stride));
    barrier();
  }
  return key_at(0);
#endif
}

// The group with the best of all groups' candidates. The lower group has the lower rows.
int best_group() {
  Candidate best = NO_CANDIDATE;
#if SUBGROUPS
  for (int g = int(gl_SubgroupInvocationID); g < groups; g += int(gl_SubgroupSize)) {
#else
  for (int g = 0; g < groups; ++g) {
#endif
    Candidate c = candidate_of(candidates[g * ROW_VECTORS], g);
    if (is_better(c, best)) best = c;
  }
#if SUBGROUPS
  best = best_of_subgroup(best);
#endif
  return best.row == 0x7fffffff ? 0 : best.row;
}

// One wave of invocations in eight polls up to 511 times, other ones in every dispatch (hash: lowbias32 by C. Wellons).
void delay(int step) {
#if DELAYS
  uint x = uint(waiting.x) + uint(step) * 0x9e3779b9u + uint(group * 64 + me / 32) * 0x85ebca6bu;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  x ^= x >> 16;
  if (x % 8u != 0u) return;
  for (uint polls = x >> 23; polls > 0u; --polls) {
    if (arrived == empty) return;
  }
#endif
}

void give_up() {
  stop = 1;
  gave_up = 1;
}

// Waits for all groups, whose writes are visible then. False if they did not arrive.
bool grid_barrier() {
  delay(-1 - int(crossed));
  memoryBarrierBuffer();
  barrier();
  ++crossed;
  if (me == 0) {
    atomicAdd(arrived, 1u);
    uint goal = crossed * uint(groups), polls = 0;
    while (arrived - uint(waiting.x) < goal) {
      if (++polls > uint(waiting.y)) {
        give_up();
        break;
      }
    }
    memoryBarrierBuffer();
  }
  barrier();
  return stop == 0;
}

// Copies the candidates of all groups to shared memory. False if one did not arrive.
bool read_candidates(int slot) {
  for (int i = me; i < groups * ROW_VECTORS; i += ROWS_PER_GROUP) {
    uvec4 words = slots[slot + i];
    uint polls = 0;
    while (any(equal(words, uvec4(empty)))) {
      if (++polls > uint(waiting.y)) {
        give_up();
        break;
      }
      words = slots[slot + i];
    }
    candidates[i] = words;
  }
  barrier();
  return stop == 0;
}

int swapped(int row, int a, int b) { return row == a ? b : row == b ? a : row; }
int row_of(int slab) { return (group * slabs + slab) * ROWS_PER_GROUP + me; }

// After `turns` turns (panel_row.glsl), element e of a row belongs to this column of the block.
#define COLUMN(e, turns) (((e) + (turns)) % BLOCK)
#define GET(e, element) \
  element = is_inside && COLUMN(e, turns) < width ? panel[at + COLUMN(e, turns) * panel_layout.y] : Real(0);
#define PUT(e, element) if (COLUMN(e, turns) < width) panel[at + COLUMN(e, turns) * panel_layout.y] = element;
#define KEEP(e, element) factors[round * BLOCK + COLUMN(e, round)] = element;
#define PUBLISH(k, r, next) slots[own_slot + k] = words_of(live_part(k * VECTOR_WIDTH, live, r));
#define PUBLISH_LAST(k, r) PUBLISH(k, r, r)
#define PUBLISH_NOTHING(k, r, next) slots[own_slot + k] = uvec4(k == 0 ? no_candidate : 0u);
#define PUBLISH_NOTHING_LAST(k, r) PUBLISH_NOTHING(k, r, r)

// Turns by a given row in place, of which g is the current vector. A row that was a pivot keeps its element of U.
#define given(k) vector_of(candidates[winner * ROW_VECTORS + (k)])
#undef TURN
#undef TURN_LAST
#undef MOVE_LAST
#define TURN(k, r, next)                                                            \
  {                                                                                 \
    Vector h = given(k + 1);                                                        \
    r = fma(Vector(-factor), Vector(REST(g), h.x), Vector(REST(r), next.x));        \
    g = h;                                                                          \
  }
#define TURN_LAST(k, r) r = fma(Vector(-factor), Vector(REST(g), 0), Vector(REST(r), kept));
#define MOVE_LAST(k, r) r = Vector(REST(r), kept);

// Step 1. Returns the first column without a pivot, or no_row.
int factorize_block(int first, int width, int zero) {
  DECLARE_ROW
  uint taken = 0;  // bit s: the row of slab s is a pivot row
  int winner = 0;
  Real pivot = Real(0);
#if !STREAMED
  const int slab = 0;
  int row = row_of(slab);
  bool is_inside = row >= first && row < rows;
  int at = place(panel_layout, first, row);
  {
    const int turns = 0;
    FOR_ELEMENTS(GET)
  }
#endif
  for (int round = 0; round <= width; ++round) {
    Candidate best = NO_CANDIDATE;
#if STREAMED
    for (int slab = 0; slab < slabs; ++slab) {
      int row = row_of(slab);
      bool is_inside = row >= first && row < rows;
      int at = place(panel_layout, first, row);
      {
        int turns = max(round - 1, 0);
        FOR_ELEMENTS(GET)
      }
#endif
      bool is_candidate = is_inside && (taken >> slab & 1u) == 0;
      if (round > 0) {
        Real factor = is_candidate && pivot != Real(0) ? r0.x / pivot : Real(0);
        Real kept = is_candidate ? factor : r0.x;
        Vector g = given(0);
        TURN_ROW(round - 1)
      }
#if STREAMED
      if (is_inside) {
        int turns = round;
        FOR_ELEMENTS(PUT)
      }
#endif
      if (is_candidate) {
        Candidate c = candidate_of(words_of(r0), row);
        if (is_better(c, best)) best = c;
      }
#if STREAMED
    }
#endif
    if (round == width) break;

    best = best_of_group(best);
    int slot = (waiting.w * waiting.z) + (first + round) * (MAX_GROUPS * ROW_VECTORS);
    int own_slot = slot + group * ROW_VECTORS;
    bool is_mine = best.high != 0 && best.row % ROWS_PER_GROUP == me;
#if STREAMED
    bool is_inside = true;
    int at = place(panel_layout, first, best.row);
    const int row = best.row, slab = best.row / ROWS_PER_GROUP - group * slabs;
    if (is_mine) {
      int turns = round;
      FOR_ELEMENTS(GET)
    }
#endif
    delay(first + round);
    if (is_mine) {
      int live = BLOCK - round;  // the multipliers at the end of the row take no part
      EACH_VECTOR(PUBLISH, PUBLISH_LAST)
    } else if (best.high == 0 && me == 0) {
      EACH_VECTOR(PUBLISH_NOTHING, PUBLISH_NOTHING_LAST)
    }
#if SOFTWARE || !SUBGROUPS
    barrier();  // Mesa runs the subgroups of a group one after the other, up to a barrier, and ends long loops
#endif
    if (!read_candidates(slot)) return zero;
    winner = best_group();
    pivot = vector_of(candidates[winner * ROW_VECTORS]).x;
    if (zero == no_row && pivot == Real(0)) zero = first + round;
    if (is_mine && winner == group) {
      taken |= 1u << slab;
      chosen[round] = row;
      FOR_ELEMENTS(KEEP)
    }
  }
#if !STREAMED
  if (is_inside) {
    int turns = width;
    FOR_ELEMENTS(PUT)
  }
#endif
  return zero;
}

// Step 2. Interchange i swaps rows first + i and exchanged_with[i], which makes pivot row i row first + i. Earlier
// interchanges may have moved it. `displaced` follows the rows that were at the top.
void find_moves(int first, int width) {
  if (me < width) pivot_rows[me] = chosen[me];
  for (int e = me; e < BLOCK * BLOCK; e += ROWS_PER_GROUP) l11[e / BLOCK * (BLOCK + 1) + e % BLOCK] = factors[e];
  barrier();
  int pivot_row = me < width ? pivot_rows[me] : no_row;
  int displaced = first + me;
  for (int i = 0; i < width; ++i) {
    if (me == i) exchanged_with[i] = pivot_row;
    barrier();
    pivot_row = swapped(pivot_row, first + i, exchanged_with[i]);
    displaced = swapped(displaced, first + i, exchanged_with[i]);
  }
  if (me < BLOCK) {
    bool is_inside = me < width;
    moves[me] = is_inside ? ivec2(pivot_rows[me], first + me) : ivec2(no_row);
    moves[BLOCK + me] = is_inside && displaced >= first + width ? ivec2(first + me, displaced) : ivec2(no_row);
    if (is_inside && group == 0) interchanges[first + me] = exchanged_with[me];
  }
  barrier();
}

void move_rows_and_solve(int first, int width) {
  int team = me / TEAM, lane = me % TEAM;
  ivec2 move = moves[lane];
  for (int begin = group * TEAMS; begin < columns; begin += groups * TEAMS) {
    int column = begin + team;
    bool moves_row = column < columns && move.x >= 0;
    Real value = moves_row ? panel[place(panel_layout, column, move.x)] : Real(0);
    barrier();  // all are read before any is written
    if (begin + TEAMS > first + width) {
      // lane i has row i: x[i] = a[i] - l[i][0] x[0] - l[i][1] x[1] ...
      bool solves = column >= first + width && lane < width;
      for (int k = 0; k < width; ++k) {
        if (lane == k) top[team * BLOCK + k] = value;
        barrier();
        if (solves && lane > k) value = fma(-l11[lane * (BLOCK + 1) + k], top[team * BLOCK + k], value);
      }
    }
    if (moves_row) panel[place(panel_layout, column, move.y)] = value;
    barrier();
  }
}

// Step 3, of a whole block. Four columns at a time: the sums are independent of each other.
#if DOUBLE
#define ACCUMULATE(sum, r, u) sum = fma(-r.y, u.y, fma(-r.x, u.x, sum));
#else
#define ACCUMULATE(sum, r, u) sum = fma(-r.w, u.w, fma(-r.z, u.z, fma(-r.y, u.y, fma(-r.x, u.x, sum))));
#endif
#define MULTIPLY(k, r, next)                                             \
  {                                                                      \
    Vector u_0 = u12[j * ROW_VECTORS + k], u_1 = u12[(j + 1) * ROW_VECTORS + k], \
           u_2 = u12[(j + 2) * ROW_VECTORS + k], u_3 = u12[(j + 3) * ROW_VECTORS + k]; \
    ACCUMULATE(x_0, r, u_0)                                              \
    ACCUMULATE(x_1, r, u_1)                                              \
    ACCUMULATE(x_2, r, u_2)                                              \
    ACCUMULATE(x_3, r, u_3)                                              \
  }
#define MULTIPLY_LAST(k, r) MULTIPLY(k, r, r)

Real u12_element(int row, int column) {
  return column < columns ? panel[place(panel_layout, column, row)] : Real(0);
}

void reduce_own_rows(int first) {
  const int width = BLOCK, turns = 0;
  for (int slab = 0; slab < slabs; ++slab) {
    int row = row_of(slab);
    bool is_inside = row >= first + BLOCK && row < rows;
    int at = place(panel_layout, first, row);
    DECLARE_ROW
    FOR_ELEMENTS(GET)
    for (int chunk = first + BLOCK; chunk < columns; chunk += CHUNK) {
      barrier();
      for (int v = me; v < CHUNK * ROW_VECTORS; v += ROWS_PER_GROUP) {
        int column = chunk + v / ROW_VECTORS, k = first + v % ROW_VECTORS * VECTOR_WIDTH;
#if DOUBLE
        u12[v] = Vector(u12_element(k, column), u12_element(k + 1, column));
#else
        u12[v] = Vector(u12_element(k, column), u12_element(k + 1, column), u12_element(k + 2, column),
                        u12_element(k + 3, column));
#endif
      }
      barrier();
      int end = is_inside ? min(CHUNK, columns - chunk) : 0, last = end - 1;
      int from = at + (chunk - first) * panel_layout.y;
      for (int j = 0; j < end; j += 4) {
        int at_0 = from + j * panel_layout.y, at_1 = from + min(j + 1, last) * panel_layout.y,
            at_2 = from + min(j + 2, last) * panel_layout.y, at_3 = from + min(j + 3, last) * panel_layout.y;
        Real x_0 = panel[at_0], x_1 = panel[at_1], x_2 = panel[at_2], x_3 = panel[at_3];
        EACH_VECTOR(MULTIPLY, MULTIPLY_LAST)
        panel[at_0] = x_0;
        if (j + 1 < end) panel[at_1] = x_1;
        if (j + 2 < end) panel[at_2] = x_2;
        if (j + 3 < end) panel[at_3] = x_3;
      }
    }
  }
}

void main() {
#if SUBGROUPS
  me = int(gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID);
#else
  me = int(gl_LocalInvocationIndex);
#endif
  group = int(gl_WorkGroupID.x);
  rows = shape.x;
  columns = shape.y;
  groups = shape.z;
  slabs = shape.w;
  if (me == 0) stop = 0;
  barrier();
  if (columns == 0) {  // to find out whether so many groups run at the same time
    grid_barrier();
    return;
  }
  // empties the slots of the next panel
  for (int i = group * ROWS_PER_GROUP + me; i < waiting.z; i += groups * ROWS_PER_GROUP) {
    slots[(1 - waiting.w) * waiting.z + i] = uvec4(empty);
  }
  int zero = no_row;
  for (int first = 0; first < columns; first += BLOCK) {
    int width = min(BLOCK, columns - first);
    zero = factorize_block(first, width, zero);
    if (stop != 0 || !grid_barrier()) return;
    find_moves(first, width);
    move_rows_and_solve(first, width);
    if (!grid_barrier()) return;
    if (first + BLOCK < columns) reduce_own_rows(first);
  }
  if (group == 0 && me == 0) zero_column = zero;
}
