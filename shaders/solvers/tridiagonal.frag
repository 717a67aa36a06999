#version 450
// Gaussian elimination of tridiagonal systems, one a column of the texture, an equation a texel: red, green and blue
// the coefficients below, on and above the diagonal, alpha the right-hand side (Brodtkorb 2008, section 4.4). A pass
// draws one row: an equation of every system.
//
// Variants: BACKWARD 0: makes red 0 by the equation above. 1: makes blue 0 by the equation below, whose own blue is 0.

layout(binding = 0) uniform sampler2D equations;
layout(binding = 1) uniform sampler2D neighbours;
layout(location = 0) noperspective in vec2 own_coordinate;
layout(location = 1) noperspective in vec2 neighbour_coordinate;
layout(location = 0) out vec4 equation;

void main() {
  vec4 own = texelFetch(equations, ivec2(own_coordinate), 0);
  vec4 neighbour = texelFetch(neighbours, ivec2(neighbour_coordinate), 0);
#if BACKWARD
  float multiplier = own.b / neighbour.g;
  equation = vec4(0.0, own.g, 0.0, fma(-multiplier, neighbour.a, own.a));
#else
  float multiplier = own.r / neighbour.g;
  equation = vec4(0.0, fma(-multiplier, neighbour.b, own.g), own.b, fma(-multiplier, neighbour.a, own.a));
#endif
}
