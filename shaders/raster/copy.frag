#version 450
// Texels as they are: rows that have become rows of U, and the way back from the front texture to the other one.

layout(binding = 0) uniform sampler2D source;
layout(location = 0) noperspective in vec2 source_coordinate;
layout(location = 0) out vec4 result;

void main() { result = texelFetch(source, ivec2(source_coordinate), 0); }
