#version 450 core
// A node of the TSLU reduction tree. Of up to ROWS_PER_GROUP candidate rows, it selects the rows that partial pivoting
// would choose for a block of at most 32 columns, in that order. A work group reduces one node, an invocation one row.
// The panel is read-only. It is transposed, so adjacent rows of the matrix are adjacent in memory.
//
// Variants:
//   DOUBLE     double precision
//   LISTED     the candidates are the listed winners of earlier nodes, otherwise consecutive rows of the panel
//   FINAL      the root: writes L \ U of the winners and the row interchanges that move them to the top
//   SUBGROUPS  subgroup reductions; every subgroup publishes its best row, so a column costs one barrier
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"
#include "compute/panel_row.glsl"

layout(local_size_x = ROWS_PER_GROUP) in;

layout(std430, binding = 0) readonly restrict buffer Panel { Real panel[]; };
layout(std430, binding = 1) readonly restrict buffer Candidates { int candidates[]; };
#if FINAL
layout(std430, binding = 2) writeonly restrict buffer Factors { Real factors[]; };  // BLOCK x BLOCK, by rows
layout(std430, binding = 3) writeonly restrict buffer Moves { ivec2 moves[]; };     // 2 BLOCK: from, to; or no_row
layout(std430, binding = 4) restrict buffer Outcome { int zero_column; int interchanges[]; };
#else
layout(std430, binding = 2) writeonly restrict buffer Winners { int winners[]; };  // `width` of every node; or no_row
#endif

UNIFORMS
UNIFORM(0, ivec2) block;  // its first column, which is its first row, too; columns
UNIFORM(1, int) count;    // candidate rows of all nodes
UNIFORM(2, ivec4) panel_layout;
END_UNIFORMS

const int no_row = -1;

#if SUBGROUPS
#define GROUPS (ROWS_PER_GROUP / 8)  // upper limit: a subgroup has at least 8 invocations
#else
#define GROUPS 1
shared uint keys_of_all[ROWS_PER_GROUP];
#endif
// Results of a round, double-buffered by even and odd rounds. Every invocation reads all best keys, so a vector holds
// four of them.
shared uvec4 keys[2 * ((GROUPS + 3) / 4)];
shared int rows[2 * GROUPS];
shared Real pivots[2 * GROUPS];
shared Vector published[2 * GROUPS * ROW_VECTORS];
#if FINAL
shared int chosen[BLOCK];
shared int exchanged_with[BLOCK];
#endif

// A larger magnitude has a larger key; 0 means no candidate. NaN has the largest key, so that it becomes a pivot and
// shows. The low bits hold the invocation. With 256 rows, they replace bits below 2^-15 of the magnitude in single
// precision, and below 2^-12 in double, whose upper half is used. Such elements are equally good pivots.
uint key_of(Real value, int invocation) {
#if DOUBLE
  uint bits = unpackDouble2x32(abs(value)).y;
#else
  uint bits = floatBitsToUint(abs(value));
#endif
  return 0x80000000u | (bits & ~uint(ROWS_PER_GROUP - 1)) | uint(ROWS_PER_GROUP - 1 - invocation);
}
int invocation_of(uint key) { return ROWS_PER_GROUP - 1 - int(key & uint(ROWS_PER_GROUP - 1)); }

#if FINAL
// Zeroes the elements from `live` on, in a vector that starts at element `from` of a row.
#if DOUBLE
Vector live_part(int from, int live, Vector v) { return mix(Vector(0), v, lessThan(ivec2(from, from + 1), ivec2(live))); }
#else
Vector live_part(int from, int live, Vector v) {
  return mix(Vector(0), v, lessThan(ivec4(from, from + 1, from + 2, from + 3), ivec4(live)));
}
#endif
#else
#define live_part(from, live, v) v  // no later step reads the multipliers of this node
#endif
#define PUBLISH(k, r, next) \
  published[slot * ROW_VECTORS + k] = live_part(k * VECTOR_WIDTH, live, Vector(REST(r), next.x));
#define PUBLISH_LAST(k, r) published[slot * ROW_VECTORS + k] = live_part(k * VECTOR_WIDTH, live, Vector(REST(r), 0));

int swapped(int row, int a, int b) { return row == a ? b : row == b ? a : row; }

void main() {
#if SUBGROUPS
  int me = int(gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID);
  if (me < keys.length()) keys[me] = uvec4(0);
  barrier();
#else
  int me = int(gl_LocalInvocationIndex);
#endif
  int first = block.x, width = block.y;
  int candidate = int(gl_WorkGroupID.x) * ROWS_PER_GROUP + me;
#if LISTED
  int row = candidate < count ? candidates[candidate] : no_row;
#else
  int row = candidate < count ? first + candidate : no_row;
#endif
  bool is_candidate = row >= 0;
  int at = place(panel_layout, first, max(row, 0));

  DECLARE_ROW
#define GET(column, element) element = is_candidate && column < width ? panel[at + (column) * panel_layout.y] : Real(0);
  FOR_ELEMENTS(GET)
#if FINAL
  int singular = no_row;
#endif

  for (int round = 0; round < width; ++round) {
    uint key = is_candidate ? key_of(r0.x, me) : 0;
    int live = BLOCK - 1 - round;  // the multipliers at the end of the row are not updated
#if SUBGROUPS
    int group = int(gl_SubgroupID);
    int slot = (round & 1) * GROUPS + group;
    uint most = subgroupMax(key);
    if (most == 0 ? gl_SubgroupInvocationID == 0 : key == most) {
      keys[slot / 4][slot % 4] = most;
      rows[slot] = is_candidate ? row : no_row;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH, PUBLISH_LAST)
    }
    barrier();
    most = 0;
    for (int four = 0; four < int(gl_NumSubgroups + 3) / 4; ++four) {
      uvec4 some = keys[(round & 1) * (GROUPS / 4) + four];
      most = max(most, max(max(some.x, some.y), max(some.z, some.w)));
    }
    int best = (round & 1) * GROUPS + (most == 0 ? 0 : invocation_of(most) / int(gl_SubgroupSize));
#else
    int slot = round & 1;
    keys_of_all[me] = key;
    barrier();
    for (int stride = ROWS_PER_GROUP / 2; stride > 0; stride /= 2) {
      if (me < stride) keys_of_all[me] = max(keys_of_all[me], keys_of_all[me + stride]);
      barrier();
    }
    uint most = keys_of_all[0];
    if (me == (most == 0 ? 0 : invocation_of(most))) {
      rows[slot] = is_candidate ? row : no_row;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH, PUBLISH_LAST)
    }
    barrier();
    int best = slot;
#endif

    Real pivot = pivots[best];
    if (is_candidate && row == rows[best]) {
      is_candidate = false;
#if FINAL
      // element e belongs to column e + round; elements after the last column are multipliers
#define KEEP(e, value) factors[round * BLOCK + ((e) + round) % BLOCK] = value;
      FOR_ELEMENTS(KEEP)
#endif
    }
#if FINAL
    if (me == 0) chosen[round] = rows[best];
    if (singular == no_row && pivot == Real(0)) singular = first + round;
#else
    if (me == 0) winners[int(gl_WorkGroupID.x) * width + round] = rows[best];
#endif
    Real factor = is_candidate && pivot != Real(0) ? r0.x / pivot : Real(0);
#define given(k) published[best * ROW_VECTORS + k]
    TURN_ROW(round)
  }

#if FINAL
  // Interchange i swaps rows first + i and exchanged_with[i], which makes winner i row first + i. Earlier interchanges
  // may have moved a winner. `displaced` follows the rows that were at the top.
  barrier();
  int winner = me < width ? chosen[me] : no_row;
  int displaced = first + me;
  for (int i = 0; i < width; ++i) {
    if (me == i) exchanged_with[i] = winner;
    barrier();
    winner = swapped(winner, first + i, exchanged_with[i]);
    displaced = swapped(displaced, first + i, exchanged_with[i]);
  }
  if (me < BLOCK) {
    bool inside = me < width;
    moves[me] = inside ? ivec2(chosen[me], first + me) : ivec2(no_row);
    moves[BLOCK + me] = inside && displaced >= first + width ? ivec2(first + me, displaced) : ivec2(no_row);
    if (inside) interchanges[first + me] = exchanged_with[me];
  }
  if (me == 0) {
    if (first == 0) zero_column = singular;
    else if (zero_column == no_row) zero_column = singular;
  }
#endif
}
