#version 450 core
// to <- from, 16 bytes at a time: how fast the device's memory is. A work group copies 2048 vectors, every invocation
// eight, all read before any is written; the vectors there are, a multiple of that.
layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly restrict buffer From { uvec4 from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { uvec4 to[]; };

#define AT(part) (first + (part) * 256)

void main() {
  int first = int(gl_WorkGroupID.x) * 2048 + int(gl_LocalInvocationID.x);
  uvec4 a = from[AT(0)], b = from[AT(1)], c = from[AT(2)], d = from[AT(3)];
  uvec4 e = from[AT(4)], f = from[AT(5)], g = from[AT(6)], h = from[AT(7)];
  to[AT(0)] = a;
  to[AT(1)] = b;
  to[AT(2)] = c;
  to[AT(3)] = d;
  to[AT(4)] = e;
  to[AT(5)] = f;
  to[AT(6)] = g;
  to[AT(7)] = h;
}
