#version 450
// One element a texel, from a matrix of four a texel; transposed where the coordinates are.

layout(binding = 0) uniform sampler2D matrix;
layout(location = 0) noperspective in vec2 element_coordinate;  // column, row of the matrix
layout(location = 0) out float result;

void main() {
  ivec2 element = ivec2(element_coordinate);
  result = texelFetch(matrix, ivec2(1 + element.x / 4, element.y), 0)[element.x % 4];
}
