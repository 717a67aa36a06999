#version 450
// A(i, j) <- A(i, j) - multiplier(i) top(j), four columns j at a time (white paper 3.2.1, 3.2.4). Rows are exchanged by
// where the coordinates point. COMPUTED_COORDINATES: the fragments compute the addresses instead; for comparison.

layout(binding = 0) uniform sampler2D source;
layout(binding = 1) uniform sampler2D multipliers;
layout(binding = 2) uniform sampler2D top;
layout(location = 0) out vec4 result;

#if COMPUTED_COORDINATES
layout(location = 1) uniform ivec2 origin;         // the rectangle's first texel
layout(location = 2) uniform ivec2 source_at;      // what it reads there ...
layout(location = 3) uniform ivec2 multiplier_at;
layout(location = 4) uniform ivec2 multiplier_step;  // ... and from row to row
layout(location = 5) uniform ivec2 top_at;
#else
layout(location = 0) noperspective in vec2 source_coordinate;
layout(location = 1) noperspective in vec2 multiplier_coordinate;
layout(location = 2) noperspective in vec2 top_coordinate;
#endif

void main() {
#if COMPUTED_COORDINATES
  ivec2 position = ivec2(gl_FragCoord.xy) - origin;
  ivec2 source_texel = source_at + position;
  ivec2 multiplier_texel = multiplier_at + position.y * multiplier_step;
  ivec2 top_texel = top_at + ivec2(position.x, 0);
#else
  ivec2 source_texel = ivec2(source_coordinate);
  ivec2 multiplier_texel = ivec2(multiplier_coordinate);
  ivec2 top_texel = ivec2(top_coordinate);
#endif
  float multiplier = texelFetch(multipliers, multiplier_texel, 0).r;
  result = fma(vec4(-multiplier), texelFetch(top, top_texel, 0), texelFetch(source, source_texel, 0));
}
