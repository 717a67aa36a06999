#version 450
// A(i, j) <- A(i, j) - multiplier(i) top(j), four columns j at a time (white paper 3.2.1, 3.2.4). Rows are exchanged by
// where the coordinates point.

layout(binding = 0) uniform sampler2D source;
layout(binding = 1) uniform sampler2D multipliers;
layout(binding = 2) uniform sampler2D top;
layout(location = 0) out vec4 result;

layout(location = 0) noperspective in vec2 source_coordinate;
layout(location = 1) noperspective in vec2 multiplier_coordinate;
layout(location = 2) noperspective in vec2 top_coordinate;

void main() {
  ivec2 source_texel = ivec2(source_coordinate);
  ivec2 multiplier_texel = ivec2(multiplier_coordinate);
  ivec2 top_texel = ivec2(top_coordinate);
  float multiplier = texelFetch(multipliers, multiplier_texel, 0).r;
  result = fma(vec4(-multiplier), texelFetch(top, top_texel, 0), texelFetch(source, source_texel, 0));
}
