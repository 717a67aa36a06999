#version 450
// A rectangle of texels. Its vertices carry the texture coordinates of what the fragments read (index-pair streaming,
// white paper 3.2.1): the rasteriser interpolates them, no fragment computes an address.

layout(location = 0) in vec2 position;  // texels of the target
layout(location = 1) in vec2 first;
layout(location = 2) in vec2 second;
layout(location = 3) in vec2 third;
layout(location = 0) uniform vec2 scale;  // 2 / size of the target

layout(location = 0) noperspective out vec2 first_coordinate;
layout(location = 1) noperspective out vec2 second_coordinate;
layout(location = 2) noperspective out vec2 third_coordinate;

void main() {
  gl_Position = vec4(position * scale - 1.0, 0.0, 1.0);
  first_coordinate = first;
  second_coordinate = second;
  third_coordinate = third;
}
