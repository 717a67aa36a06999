#version 450
// Elements that lie one a texel become texels of four: of a row of the source, or, transposed, of one of its columns.
// Components that are not in the block are masked off by the colour mask; what they read does not matter.

layout(binding = 0) uniform sampler2D elements;  // one channel
layout(location = 1) uniform int shift;          // components of the first texel that come before the block
layout(location = 2) uniform bool transposed;
layout(location = 0) noperspective in vec2 group_coordinate;  // texel of the block, row of the block
layout(location = 0) out vec4 front;
layout(location = 1) out vec4 back;

float element(int column, int row) {
  ivec2 at = transposed ? ivec2(row, column) : ivec2(column, row);
  return texelFetch(elements, clamp(at, ivec2(0), textureSize(elements, 0) - 1), 0).r;
}

void main() {
  ivec2 group = ivec2(group_coordinate);
  int column = 4 * group.x - shift;
  front = vec4(element(column, group.y), element(column + 1, group.y), element(column + 2, group.y),
               element(column + 3, group.y));
  back = front;
}
