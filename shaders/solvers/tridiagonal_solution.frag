#version 450
// The solution x of equations with nothing left beside the diagonal: green x = alpha.

layout(binding = 0) uniform sampler2D equations;
layout(location = 0) out float solution;

void main() {
  vec4 equation = texelFetch(equations, ivec2(gl_FragCoord.xy), 0);
  solution = equation.a / equation.g;
}
