#version 450
// One cooperative matrix product for OpenGL. half_rate tries whether the driver takes it: GLSL has no such extension.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Inputs { vec4 inputs[]; };
layout(std430, binding = 1) buffer Outputs { float outputs[]; };
void main() {
  coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a;
  coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b;
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> c =
      coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
  coopMatLoad(a, inputs, 0, 2, gl_CooperativeMatrixLayoutRowMajor);
  coopMatLoad(b, inputs, 0, 2, gl_CooperativeMatrixLayoutRowMajor);
  c = coopMatMulAdd(a, b, c);
  coopMatStore(c, outputs, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
}
