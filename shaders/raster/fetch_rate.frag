#version 450
// How fast fragments get at texels: each fetches FETCHES of them, beside each other for neighbouring fragments, from a
// texture of SIDE x SIDE that stays in cache, and draws the least of each channel.

layout(binding = 0) uniform sampler2D source;
layout(location = 0) out vec4 result;

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 least = texelFetch(source, at & (SIDE - 1), 0);
  for (int fetch = 1; fetch < FETCHES; ++fetch) least = min(least, texelFetch(source, (at + fetch) & (SIDE - 1), 0));
  result = least;
}
