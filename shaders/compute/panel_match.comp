#version 450 core
// A match of tournament pivoting (CALU): of up to PLAYERS rows of a panel, those that partial pivoting would choose for
// a block of at most 32 columns, in that order. An invocation has a row, a work group plays a match; nothing is written
// into the panel. The panel is transposed: a column of it is a row of the matrix here, so that neighbouring rows are
// neighbours in memory.
//
// Variants: DOUBLE; LISTED: the players are listed, the winners of earlier matches, against consecutive rows of the
// panel; FINAL: there is one match, and it decides: L \ U of its winners, and what brings them to the top; SUBGROUPS:
// the best of a subgroup is found by instructions of its own, and every subgroup publishes its best row, so that a column
// costs one barrier.
#if SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/panel_row.glsl"

layout(local_size_x = PLAYERS) in;

layout(std430, binding = 0) readonly restrict buffer Panel { Real panel[]; };
layout(std430, binding = 1) readonly restrict buffer Players { int players[]; };
#if FINAL
layout(std430, binding = 2) writeonly restrict buffer Factors { Real factors[]; };  // BLOCK x BLOCK, by rows
layout(std430, binding = 3) writeonly restrict buffer Moves { ivec2 moves[]; };     // 2 BLOCK: from, to; or -1
layout(std430, binding = 4) restrict buffer Outcome { int zero_column; int interchanges[]; };
#else
layout(std430, binding = 2) writeonly restrict buffer Winners { int winners[]; };  // of every match, `width`; -1: none
#endif

layout(location = 0) uniform ivec2 block;  // its first column, which is its first row, too; columns
layout(location = 1) uniform int count;    // rows, or listed players
layout(location = 2) uniform ivec4 panel_layout;

#define NOBODY (-1)
#if DOUBLE
#define Key uvec2
#else
#define Key uint
#endif
// Multipliers are of interest in the last match only.
#if DOUBLE
#define FORGET(k, r) r.y = 0;
#else
#define FORGET(k, r) r.w = 0;
#endif

#if SUBGROUPS
#define GROUPS (PLAYERS / 8)  // at most: no device has smaller ones
#else
#define GROUPS 1
shared Key keys_of_all[PLAYERS];
shared int seats[PLAYERS];
#endif
// What a round publishes, for even and odd rounds, so that one round may be read while the next is written.
shared Key keys[2 * GROUPS];
shared int rows[2 * GROUPS];
shared Real pivots[2 * GROUPS];
shared Vector published[2 * GROUPS * ROW_VECTORS];
#if FINAL
shared int chosen[BLOCK];
shared int exchanged_with[BLOCK];
#endif

// Keys of larger magnitudes are larger; nobody's is 0. A NaN counts as largest, so that it is seen and not passed over.
#if DOUBLE
Key key_of(Real value) {
  uvec2 bits = unpackDouble2x32(abs(value));
  return Key(bits.y + 1, bits.x);
}
bool above(Key a, Key b) { return a.x > b.x || (a.x == b.x && a.y > b.y); }
#else
Key key_of(Real value) { return floatBitsToUint(abs(value)) + 1; }
bool above(Key a, Key b) { return a > b; }
#endif

#if FINAL
// Of a vector that begins with element `from` of a row: what is before element `live`.
#if DOUBLE
Vector live_part(int from, int live, Vector v) { return mix(Vector(0), v, lessThan(ivec2(from, from + 1), ivec2(live))); }
#else
Vector live_part(int from, int live, Vector v) {
  return mix(Vector(0), v, lessThan(ivec4(from, from + 1, from + 2, from + 3), ivec4(live)));
}
#endif
#else
#define live_part(from, live, v) v  // nothing but 0 stands behind it
#endif
#define PUBLISH(k, r, next) \
  published[slot * ROW_VECTORS + k] = live_part(k * VECTOR_WIDTH, live, Vector(REST(r), next.x));
#define PUBLISH_LAST(k, r) published[slot * ROW_VECTORS + k] = live_part(k * VECTOR_WIDTH, live, Vector(REST(r), 0));

int swapped(int row, int a, int b) { return row == a ? b : row == b ? a : row; }

void main() {
  int me = int(gl_LocalInvocationIndex);
  int first = block.x, width = block.y;
  int seat = int(gl_WorkGroupID.x) * PLAYERS + me;
#if LISTED
  int row = seat < count ? players[seat] : NOBODY;
#else
  int row = seat < count ? first + seat : NOBODY;
#endif
  bool plays = row >= 0;
  int at = place(panel_layout, first, max(row, 0));

  DECLARE_ROW
#define GET(column, element) element = plays && column < width ? panel[at + (column) * panel_layout.y] : Real(0);
  FOR_ELEMENTS(GET)
#if FINAL
  int singular = NOBODY;
#endif

  for (int round = 0; round < width; ++round) {
    Key key = plays ? key_of(r0.x) : Key(0);
    int slot = (round & 1) * GROUPS;
    int live = BLOCK - 1 - round;  // multipliers, at the end of the row by now, are nothing to subtract from
#if SUBGROUPS
#if DOUBLE
    Key most = Key(subgroupMax(key.x), 0);
    most.y = subgroupMax(key.x == most.x ? key.y : 0u);
#else
    Key most = subgroupMax(key);
#endif
    slot += int(gl_SubgroupID);
    if (gl_SubgroupInvocationID == subgroupBallotFindLSB(subgroupBallot(key == most))) {
      keys[slot] = key;
      rows[slot] = plays ? row : NOBODY;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH) LAST_VECTOR(PUBLISH_LAST)
    }
    barrier();
    int best = (round & 1) * GROUPS;
    Key largest = keys[best];
    for (int group = 1; group < int(gl_NumSubgroups); ++group) {
      Key other = keys[(round & 1) * GROUPS + group];
      if (above(other, largest)) {
        largest = other;
        best = (round & 1) * GROUPS + group;
      }
    }
#else
    keys_of_all[me] = key;
    seats[me] = me;
    barrier();
    for (int half_of_them = PLAYERS / 2; half_of_them > 0; half_of_them /= 2) {
      if (me < half_of_them && above(keys_of_all[me + half_of_them], keys_of_all[me])) {
        keys_of_all[me] = keys_of_all[me + half_of_them];
        seats[me] = seats[me + half_of_them];
      }
      barrier();
    }
    if (me == seats[0]) {
      rows[slot] = plays ? row : NOBODY;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH) LAST_VECTOR(PUBLISH_LAST)
    }
    barrier();
    int best = slot;
#endif

    Real pivot = pivots[best];
    if (plays && row == rows[best]) {
      plays = false;
#if FINAL
      // element e is column e + round, or, behind the last column, one of the multipliers
#define KEEP(e, value) factors[round * BLOCK + ((e) + round) % BLOCK] = value;
      FOR_ELEMENTS(KEEP)
#endif
    }
#if FINAL
    if (me == 0) chosen[round] = rows[best];
    if (singular == NOBODY && pivot == Real(0)) singular = first + round;
#else
    if (me == 0) winners[int(gl_WorkGroupID.x) * width + round] = rows[best];
#endif
    Real factor = plays && pivot != Real(0) ? r0.x / pivot : Real(0);
#define given(k) published[best * ROW_VECTORS + k]
    TURN_ROW
#if !FINAL
    LAST_VECTOR(FORGET)
#endif
  }

#if FINAL
  // The interchanges "row first + i with row exchanged_with[i]", i = 0, 1, ..., which make winner i row first + i; a
  // winner may have been moved by the interchanges before its own. And what becomes of the rows that were on top.
  barrier();
  int winner = me < width ? chosen[me] : NOBODY;
  int displaced = first + me;
  for (int i = 0; i < width; ++i) {
    if (me == i) exchanged_with[i] = winner;
    barrier();
    winner = swapped(winner, first + i, exchanged_with[i]);
    displaced = swapped(displaced, first + i, exchanged_with[i]);
  }
  if (me < BLOCK) {
    bool inside = me < width;
    moves[me] = inside ? ivec2(chosen[me], first + me) : ivec2(NOBODY);
    moves[BLOCK + me] = inside && displaced >= first + width ? ivec2(first + me, displaced) : ivec2(NOBODY);
    if (inside) interchanges[first + me] = exchanged_with[me];
  }
  if (me == 0) {
    if (first == 0) zero_column = singular;
    else if (zero_column == NOBODY) zero_column = singular;
  }
#endif
}
