#version 450
// A step of LU without pivoting, an element a texel, read and drawn in the same texture: a(y, x) minus the sum of
// l(y, k) u(k, x) for `sum`.x <= k < `sum`.y; divided by the pivot u(x, x) if `sum`.z is 1
// (src/local/solvers/lu_study/lu_orders.hpp).

layout(binding = 0) uniform sampler2D matrix;
layout(location = 1) uniform ivec4 sum;
layout(location = 0) out float result;

float at(int row, int column) { return texelFetch(matrix, ivec2(column, row), 0).r; }

void main() {
  int row = int(gl_FragCoord.y), column = int(gl_FragCoord.x);
  float value = at(row, column);
  for (int k = sum.x; k < sum.y; ++k) value = fma(-at(row, k), at(k, column), value);
  result = sum.z == 1 ? value / at(column, column) : value;
}
