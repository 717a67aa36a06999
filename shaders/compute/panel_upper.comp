#version 450 core
// U12 of a group of blocks of a transposed panel, in the columns to the right of the group: U12 <- L11^-1 A12. A work
// group has four of these columns, an invocation a row of them.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict buffer Panel { Real panel[]; };
layout(std430, binding = 1) writeonly restrict buffer Upper { Real upper[]; };

UNIFORMS
UNIFORM(0, int) first;           // column and row of the group
UNIFORM(1, int) columns;         // to the right of it
UNIFORM(2, ivec4) panel_layout;
UNIFORM(3, ivec4) upper_layout;  // U12 once more, by rows, for the reduction of the rest
END_UNIFORMS

shared Real top[2 * 4];  // the finished row, of this step and of the one before

void main() {
  int me = int(gl_LocalInvocationIndex);
  int column = int(gl_WorkGroupID.x) * 4;
  int row = first + me, beside = first + GROUP, last = columns - 1;
  Real value_0 = panel[place(panel_layout, beside + column, row)],
       value_1 = panel[place(panel_layout, beside + min(column + 1, last), row)],
       value_2 = panel[place(panel_layout, beside + min(column + 2, last), row)],
       value_3 = panel[place(panel_layout, beside + min(column + 3, last), row)];

  // x[i] = a[i] - l[i][0] x[0] - l[i][1] x[1] ...; eight multipliers are read at a time, for they are waited for
  int at = place(panel_layout, first, row);
#define MULTIPLIER(j) (k + j < me ? panel[at + (k + j) * panel_layout.y] : Real(0))
#define STEP(j, multiplier) \
  if (me == k + j) { \
    top[(j & 1) * 4 + 0] = value_0; \
    top[(j & 1) * 4 + 1] = value_1; \
    top[(j & 1) * 4 + 2] = value_2; \
    top[(j & 1) * 4 + 3] = value_3; \
  } \
  barrier(); \
  if (me > k + j) { \
    value_0 = fma(-multiplier, top[(j & 1) * 4 + 0], value_0); \
    value_1 = fma(-multiplier, top[(j & 1) * 4 + 1], value_1); \
    value_2 = fma(-multiplier, top[(j & 1) * 4 + 2], value_2); \
    value_3 = fma(-multiplier, top[(j & 1) * 4 + 3], value_3); \
  }
  for (int k = 0; k < GROUP; k += 8) {
    Real m_0 = MULTIPLIER(0), m_1 = MULTIPLIER(1), m_2 = MULTIPLIER(2), m_3 = MULTIPLIER(3), m_4 = MULTIPLIER(4),
         m_5 = MULTIPLIER(5), m_6 = MULTIPLIER(6), m_7 = MULTIPLIER(7);
    STEP(0, m_0)
    STEP(1, m_1)
    STEP(2, m_2)
    STEP(3, m_3)
    STEP(4, m_4)
    STEP(5, m_5)
    STEP(6, m_6)
    STEP(7, m_7)
  }

#define PUT(j, value) \
  if (column + j <= last) { \
    panel[place(panel_layout, beside + column + j, row)] = value; \
    upper[place(upper_layout, me, column + j)] = value; \
  }
  PUT(0, value_0)
  PUT(1, value_1)
  PUT(2, value_2)
  PUT(3, value_3)
}
