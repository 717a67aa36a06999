#version 450 core
// to <- from, row by row. LISTED: row moves[i].y of `to` <- row moves[i].x of `from`; otherwise row i <- row i.
// A work group copies 512 columns of one row. Listed rows lie anywhere: work groups that follow each other take the
// same columns of them, so that they read and write within a stripe, and not on as many memory pages as there are rows
// times stripes.
#include "compute/place.glsl"
#include "compute/precision.glsl"
#include "compute/uniforms.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly restrict buffer From { Real from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { Real to[]; };
#if LISTED
layout(std430, binding = 2) readonly restrict buffer Moves { ivec2 moves[]; };
#endif

UNIFORMS
UNIFORM(0, int) columns;
UNIFORM(1, ivec4) from_layout;
UNIFORM(2, ivec4) to_layout;
END_UNIFORMS

void main() {
#if LISTED
  ivec2 rows = moves[gl_WorkGroupID.x];
  int part = int(gl_WorkGroupID.y);
#else
  ivec2 rows = ivec2(gl_WorkGroupID.y);
  int part = int(gl_WorkGroupID.x);
#endif
  int column = part * 512 + int(gl_LocalInvocationID.x);
  for (int step = 0; step < 4; ++step, column += 128) {
    if (column < columns) to[place(to_layout, rows.y, column)] = from[place(from_layout, rows.x, column)];
  }
}
