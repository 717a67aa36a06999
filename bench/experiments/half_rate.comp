#version 450
// The kernel f16vec2-fma of half_rate.cpp for SPIR-V: 16 chains, 8 steps a turn.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Result { float result[]; };
layout(location = 0) uniform int iterations;
layout(location = 1) uniform vec4 factors;
#define FOR_ALL(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define DECLARE(c) \
  f16vec2 x##c = f16vec2(float16_t(factors.z * float(c + 1) + factors.w * float(gl_LocalInvocationIndex)));
#define STEP(c) x##c = fma(x##c, m, b);
#define ADD(c) sum += x##c;
void main() {
  f16vec2 m = f16vec2(float16_t(factors.x)), b = f16vec2(float16_t(factors.y));
  FOR_ALL(DECLARE)
  for (int i = 0; i < iterations; ++i) {
    FOR_ALL(STEP) FOR_ALL(STEP) FOR_ALL(STEP) FOR_ALL(STEP)
    FOR_ALL(STEP) FOR_ALL(STEP) FOR_ALL(STEP) FOR_ALL(STEP)
  }
  f16vec2 sum = f16vec2(0.0);
  FOR_ALL(ADD)
  result[gl_GlobalInvocationID.x] = float(sum.x) + float(sum.y);
}
