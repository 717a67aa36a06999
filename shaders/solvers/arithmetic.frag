#version 450 core
// The same as arithmetic.comp in a fragment shader, operands and results in textures.
layout(binding = 0) uniform sampler2D all_a;
layout(binding = 1) uniform sampler2D all_b;
layout(binding = 2) uniform sampler2D all_c;
layout(location = 0) out float result;

void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float a = texelFetch(all_a, at, 0).r, b = texelFetch(all_b, at, 0).r, c = texelFetch(all_c, at, 0).r;
  precise float computed = EXPRESSION;
  result = computed;
}
