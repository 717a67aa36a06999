#version 450 core
// to <- from, row by row. LISTED: row moves[i].y of `to` <- row moves[i].x of `from`; otherwise row i <- row i.
// A work group copies 512 columns of one row.
#include "compute/place.glsl"
#include "compute/precision.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly restrict buffer From { Real from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { Real to[]; };
#if LISTED
layout(std430, binding = 2) readonly restrict buffer Moves { ivec2 moves[]; };
#endif

layout(location = 0) uniform int columns;
layout(location = 1) uniform ivec4 from_layout;
layout(location = 2) uniform ivec4 to_layout;

void main() {
  int row = int(gl_WorkGroupID.y);
#if LISTED
  ivec2 rows = moves[row];
#else
  ivec2 rows = ivec2(row);
#endif
  int column = int(gl_WorkGroupID.x) * 512 + int(gl_LocalInvocationID.x);
  for (int step = 0; step < 4; ++step, column += 128) {
    if (column < columns) to[place(to_layout, rows.y, column)] = from[place(from_layout, rows.x, column)];
  }
}
