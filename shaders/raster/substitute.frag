#version 450
// y(i) <- y(i) - sum over j of A(i, j) x(j): a fragment a row.

layout(binding = 0) uniform sampler2D y;
layout(binding = 1) uniform sampler2D x;
layout(binding = 2) uniform sampler2D a;
layout(location = 1) uniform ivec2 columns;  // of A: first, end
layout(location = 2) uniform ivec2 first_x;    // texel of x that belongs to the first of them
layout(location = 3) uniform ivec2 components;  // of x and y in their texels
layout(location = 0) noperspective in vec2 y_coordinate;
layout(location = 1) noperspective in vec2 a_coordinate;  // only its row counts
layout(location = 0) out vec4 result;

void main() {
  int row = int(a_coordinate.y);
  float sum = 0.0;
  for (int j = columns.x; j < columns.y; ++j) {
    float element = texelFetch(a, ivec2(1 + j / 4, row), 0)[j % 4];
    sum = fma(element, texelFetch(x, first_x + ivec2(0, j - columns.x), 0)[components.x], sum);
  }
  result = texelFetch(y, ivec2(y_coordinate), 0);
  result[components.y] -= sum;
}
