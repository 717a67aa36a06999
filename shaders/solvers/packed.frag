#version 450
// A texel of a matrix of packing 2x2 (coprocessor paper, 4): red and green above blue and alpha. Elements outside
// `extents` become 0, so that products and sums of padded matrices stay those of the matrices.
//
// Variants: OPERATION
//   1 linear       factors.x a + factors.y b, or with TERMS 1 factors.x a + factors.y
//   2 multiply     a b, element by element
//   3 divide       a / b
//   4 transpose    a^T
//   5 block        a, moved by `shift`, inside `inside`; own texels elsewhere
//   6 ones         1 on the texel's diagonal, from row inside.y to row inside.w
//   7 lower        of L and U in one matrix: L, with ones
//   8 upper        U
//   9 equations    of tridiagonal systems in columns: a, b, c and d of an equation, a texel for each system
//   10 pack        a matrix of packing 1x1

layout(binding = 0) uniform sampler2D a;
layout(binding = 1) uniform sampler2D b;
layout(binding = 2) uniform sampler2D c;
layout(binding = 3) uniform sampler2D d;
layout(location = 8) uniform ivec2 extents;  // rows, columns
layout(location = 9) uniform vec2 factors;
layout(location = 10) uniform ivec2 shift;   // rows, columns
layout(location = 11) uniform ivec4 inside;  // first column, first row, last column, last row
layout(location = 0) out vec4 result;

bool is_inside(int row, int column) {
  return all(greaterThanEqual(ivec2(column, row), inside.xy)) && all(lessThanEqual(ivec2(column, row), inside.zw));
}

float element(sampler2D matrix, int row, int column) {
  vec4 texel = texelFetch(matrix, ivec2(column, row) >> 1, 0);
  vec2 in_row = (row & 1) == 0 ? texel.rg : texel.ba;
  return (column & 1) == 0 ? in_row.x : in_row.y;
}

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  int row = 2 * at.y, column = 2 * at.x;
#if OPERATION == 9
  bool first = at.y == 0, last = at.y + 1 == extents.x;
  result = vec4(first ? 0.0 : element(a, at.y, at.x), element(b, at.y, at.x), last ? 0.0 : element(c, at.y, at.x),
                element(d, at.y, at.x));
#else
  vec4 own = vec4(0.0);
#if OPERATION == 1
  own = factors.x * texelFetch(a, at, 0) + factors.y * (TERMS == 1 ? vec4(1.0) : texelFetch(b, at, 0));
#elif OPERATION == 2
  own = texelFetch(a, at, 0) * texelFetch(b, at, 0);
#elif OPERATION == 3
  own = texelFetch(a, at, 0) / texelFetch(b, at, 0);
#elif OPERATION == 4
  own = texelFetch(a, at.yx, 0).rbga;
#elif OPERATION == 5
  own = texelFetch(b, at, 0);
  if (is_inside(row, column)) own.r = element(a, row + shift.x, column + shift.y);
  if (is_inside(row, column + 1)) own.g = element(a, row + shift.x, column + 1 + shift.y);
  if (is_inside(row + 1, column)) own.b = element(a, row + 1 + shift.x, column + shift.y);
  if (is_inside(row + 1, column + 1)) own.a = element(a, row + 1 + shift.x, column + 1 + shift.y);
#elif OPERATION == 6
  own = vec4(row >= inside.y && row <= inside.w, 0.0, 0.0, row + 1 >= inside.y && row + 1 <= inside.w);
#elif OPERATION == 7
  own = at.x < at.y ? texelFetch(a, at, 0) : at.x > at.y ? vec4(0.0) : vec4(1.0, 0.0, texelFetch(a, at, 0).b, 1.0);
#elif OPERATION == 8
  own = at.x > at.y ? texelFetch(a, at, 0) : at.x < at.y ? vec4(0.0) : texelFetch(a, at, 0) * vec4(1.0, 1.0, 0.0, 1.0);
#else
  own = vec4(texelFetch(a, ivec2(column, row), 0).r, texelFetch(a, ivec2(column + 1, row), 0).r,
             texelFetch(a, ivec2(column, row + 1), 0).r, texelFetch(a, ivec2(column + 1, row + 1), 0).r);
#endif
  bvec2 has_row = lessThan(ivec2(row, row + 1), extents.xx), has_column = lessThan(ivec2(column, column + 1), extents.yy);
  result = vec4(has_row.x && has_column.x ? own.r : 0.0, has_row.x && has_column.y ? own.g : 0.0,
                has_row.y && has_column.x ? own.b : 0.0, has_row.y && has_column.y ? own.a : 0.0);
#endif
}
