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

#if SUBGROUPS
#define GROUPS (PLAYERS / 8)  // at most: no device has smaller ones
#else
#define GROUPS 1
shared uint keys_of_all[PLAYERS];
#endif
// What a round publishes, for even and odd rounds, so that one round may be read while the next is written. Best keys
// are four to a vector: all of them are read by every invocation.
shared uvec4 keys[2 * ((GROUPS + 3) / 4)];
shared int rows[2 * GROUPS];
shared Real pivots[2 * GROUPS];
shared Vector published[2 * GROUPS * ROW_VECTORS];
#if FINAL
shared int chosen[BLOCK];
shared int exchanged_with[BLOCK];
#endif

// Keys of larger magnitudes are larger; nobody's is 0. A NaN counts as largest, so that it is seen and not passed over.
// The last bits say whose key it is, for they tell elements apart that hardly differ: in single precision by less than
// 2^-15 of their magnitude where 256 play, in double, whose upper half is taken, by 2^-12. That is as good a pivot.
uint key_of(Real value, int player) {
#if DOUBLE
  uint bits = unpackDouble2x32(abs(value)).y;
#else
  uint bits = floatBitsToUint(abs(value));
#endif
  return 0x80000000u | (bits & ~uint(PLAYERS - 1)) | uint(PLAYERS - 1 - player);
}
int player_of(uint key) { return PLAYERS - 1 - int(key & uint(PLAYERS - 1)); }

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
#define live_part(from, live, v) v  // nobody reads multipliers in this match
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
    uint key = plays ? key_of(r0.x, me) : 0;
    int live = BLOCK - 1 - round;  // multipliers, at the end of the row by now, are nothing to subtract from
#if SUBGROUPS
    int group = int(gl_SubgroupID);
    int slot = (round & 1) * GROUPS + group;
    uint most = subgroupMax(key);
    if (most == 0 ? gl_SubgroupInvocationID == 0 : key == most) {
      keys[slot / 4][slot % 4] = most;
      rows[slot] = plays ? row : NOBODY;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH, PUBLISH_LAST)
    }
    barrier();
    most = 0;
    for (int four = 0; four < int(gl_NumSubgroups + 3) / 4; ++four) {
      uvec4 some = keys[(round & 1) * (GROUPS / 4) + four];
      most = max(most, max(max(some.x, some.y), max(some.z, some.w)));
    }
    int best = (round & 1) * GROUPS + (most == 0 ? 0 : player_of(most) / int(gl_SubgroupSize));
#else
    int slot = round & 1;
    keys_of_all[me] = key;
    barrier();
    for (int half_of_them = PLAYERS / 2; half_of_them > 0; half_of_them /= 2) {
      if (me < half_of_them) keys_of_all[me] = max(keys_of_all[me], keys_of_all[me + half_of_them]);
      barrier();
    }
    uint most = keys_of_all[0];
    if (me == (most == 0 ? 0 : player_of(most))) {
      rows[slot] = plays ? row : NOBODY;
      pivots[slot] = r0.x;
      EACH_VECTOR(PUBLISH, PUBLISH_LAST)
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
    TURN_ROW(round)
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
