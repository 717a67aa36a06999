#version 450
// The extra column at the left (white paper 3.2, figure 3): red, the multiplier of the row, A(i, c) / top(c); blue, its
// element of the next column as it will be once reduced, A(i, c + 1) - multiplier top(c + 1), in which the next pivot
// is looked for while the rest of the matrix is still being reduced. Drawn into the matrix and, for the reduction to
// read, into a texture of its own.

layout(binding = 0) uniform sampler2D source;
layout(binding = 2) uniform sampler2D top;
layout(location = 1) uniform ivec2 components;  // of columns c and c + 1 in their texels
layout(location = 0) noperspective in vec2 source_coordinate;  // column c
layout(location = 1) noperspective in vec2 top_coordinate;     // column c
layout(location = 2) noperspective in vec2 next_coordinate;    // column c + 1, source's row
layout(location = 0) out vec4 in_matrix;
layout(location = 1) out vec4 in_column;

void main() {
  ivec2 source_texel = ivec2(source_coordinate);
  ivec2 next_texel = ivec2(next_coordinate);
  ivec2 top_texel = ivec2(top_coordinate);
  ivec2 top_next_texel = ivec2(top_texel.x + next_texel.x - source_texel.x, top_texel.y);
  float multiplier = texelFetch(source, source_texel, 0)[components.x] / texelFetch(top, top_texel, 0)[components.x];
  float next = fma(-multiplier, texelFetch(top, top_next_texel, 0)[components.y],
                   texelFetch(source, next_texel, 0)[components.y]);
  in_matrix = vec4(multiplier, 0.0, next, 0.0);
  in_column = in_matrix;
}
