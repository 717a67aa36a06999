// What a texel of a target becomes, computed by a fragment of a rectangle that is drawn (raster/quad.vert) or, COMPUTE 1,
// by an invocation of a compute shader that stores it (src/local/solvers/device/texture_matrix.hpp); DOUBLE 1: four
// elements in two texels of words. A shader defines Texel and CHANNELS, includes this, and then defines texel(), which
// reads `first`, `second` and `third`: the texels that the rectangle's coordinates name for it.

#if COMPUTE
layout(local_size_x = 32, local_size_y = GROUP / 32) in;
#if DOUBLE
layout(binding = 0) writeonly restrict uniform uimage2D target;
#else
layout(binding = 0) writeonly restrict uniform image2D target;
#endif
layout(location = 1) uniform ivec4 rectangle;  // x, y, width, height
layout(location = 2) uniform ivec2 first_at;   // of its first texel
layout(location = 3) uniform ivec4 first_steps;  // (x, y) along the width, (x, y) along the height
layout(location = 4) uniform ivec2 second_at;
layout(location = 5) uniform ivec4 second_steps;
layout(location = 6) uniform ivec2 third_at;
layout(location = 7) uniform ivec4 third_steps;
#else
layout(location = 0) noperspective in vec2 first_coordinate;
layout(location = 1) noperspective in vec2 second_coordinate;
layout(location = 2) noperspective in vec2 third_coordinate;
layout(location = 0) out Texel result;
#endif

ivec2 first, second, third;

Texel texel();

#if COMPUTE
ivec2 moved(ivec2 at, ivec4 steps, ivec2 by) { return at + steps.xy * by.x + steps.zw * by.y; }

void main() {
  ivec2 by = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(by, rectangle.zw))) return;
  first = moved(first_at, first_steps, by);
  second = moved(second_at, second_steps, by);
  third = moved(third_at, third_steps, by);
#if DOUBLE
  dvec4 stored = texel();
  ivec2 at = (rectangle.xy + by) * ivec2(2, 1);
  imageStore(target, at, uvec4(unpackDouble2x32(stored.x), unpackDouble2x32(stored.y)));
  imageStore(target, at + ivec2(1, 0), uvec4(unpackDouble2x32(stored.z), unpackDouble2x32(stored.w)));
#else
  vec4 stored = vec4(0.0);
  stored.CHANNELS = texel();
  imageStore(target, rectangle.xy + by, stored);
#endif
}
#else
void main() {
  first = ivec2(first_coordinate);
  second = ivec2(second_coordinate);
  third = ivec2(third_coordinate);
  result = texel();
}
#endif
