// Rate of half, single and double precision multiply-adds in compute shaders, and what the driver makes of f16vec2.
//
//   g++ -std=c++20 -O2 half_rate.cpp -o half_rate -lEGL -lGLEW -lOpenGL
//   glslang -G --target-env opengl half_rate.comp -o half_rate.spv        # glslang 15, optional
//   ./half_rate DEVICE [DIRECTORY]       # reads DIRECTORY/half_rate.spv, writes DIRECTORY/binary-*.bin
//   ./half_rate DEVICE DIRECTORY FILE    # only links the SPIR-V module DIRECTORY/FILE, which may crash the driver
//
// count_instructions.py reads the machine code: run with __GL_SHADER_DISK_CACHE=1 __GL_SHADER_DISK_CACHE_PATH=CACHE,
// then count_instructions.py CACHE.
//
// Each line "rate" is one kernel: chains of dependent multiply-adds in registers, all chains independent.
#include <cmath>

#include "experiment.hpp"

namespace {

using namespace experiment;

constexpr int invocations = 256, unrolled_steps = 8;

struct Kernel {
  const char* name;        ///< printed, and part of the binary's file name
  const char* extensions;  ///< lines before the code
  const char* type;        ///< GLSL type of one chain
  int lanes;               ///< numbers in that type
  int chains;
  bool calls_fma;      ///< fma(), else a product and a sum
  const char* scalar;  ///< GLSL type of one number
};

std::string kernel_source(const Kernel& kernel) {
  const std::string type = kernel.type, scalar = kernel.scalar;
  std::string text =
      "#version 450\n" + std::string(kernel.extensions) + "layout(local_size_x=" + std::to_string(invocations) +
      ") in;\nlayout(std430,binding=0) buffer Result { float result[]; };\n"
      "layout(location=0) uniform int iterations; layout(location=1) uniform vec4 factors;\n"
      "void main(){\n  " +
      type + " m = " + type + "(" + scalar + "(factors.x)), b = " + type + "(" + scalar + "(factors.y));\n";
  for (int c = 0; c < kernel.chains; ++c) {
    text += "  " + type + " x" + std::to_string(c) + " = " + type + "(" + scalar + "(factors.z * float(" +
            std::to_string(c + 1) + ") + factors.w * float(gl_LocalInvocationIndex)));\n";
  }
  text += "  for (int i = 0; i < iterations; ++i) {\n";
  for (int step = 0; step < unrolled_steps; ++step) {
    for (int c = 0; c < kernel.chains; ++c) {
      const std::string x = "x" + std::to_string(c);
      text += "    " + x + " = " + (kernel.calls_fma ? "fma(" + x + ", m, b)" : x + " * m + b") + ";\n";
    }
  }
  text += "  }\n  " + type + " sum = x0";
  for (int c = 1; c < kernel.chains; ++c) text += " + x" + std::to_string(c);
  text += ";\n  float total = 0.0;\n";
  for (int lane = 0; lane < kernel.lanes; ++lane) {
    text +=
        kernel.lanes == 1 ? "  total += float(sum);\n" : std::string("  total += float(sum.") + "xyzw"[lane] + ");\n";
  }
  return text + "  result[gl_GlobalInvocationID.x] = total;\n}\n";
}

/// Chains of f16vec2 and of float, one step of each in turn.
std::string mixed_source(int half_chains, int single_chains) {
  std::string text =
      "#version 450\n#extension GL_NV_gpu_shader5 : require\nlayout(local_size_x=256) in;\n"
      "layout(std430,binding=0) buffer Result { float result[]; };\n"
      "layout(location=0) uniform int iterations; layout(location=1) uniform vec4 factors;\nvoid main(){\n"
      "f16vec2 mh = f16vec2(float16_t(factors.x)), bh = f16vec2(float16_t(factors.y));\n";
  const auto start = [](int c) {
    return "factors.z * float(" + std::to_string(c + 1) + ") + factors.w * float(gl_LocalInvocationIndex)";
  };
  for (int c = 0; c < half_chains; ++c) {
    text += "f16vec2 h" + std::to_string(c) + " = f16vec2(float16_t(" + start(c) + "));\n";
  }
  for (int c = 0; c < single_chains; ++c) text += "float s" + std::to_string(c) + " = " + start(c) + ";\n";
  text += "for (int i = 0; i < iterations; ++i) {\n";
  for (int step = 0; step < unrolled_steps; ++step) {
    for (int c = 0; c < std::max(half_chains, single_chains); ++c) {
      const std::string h = "h" + std::to_string(c), s = "s" + std::to_string(c);
      if (c < half_chains) text += h + " = fma(" + h + ", mh, bh);\n";
      if (c < single_chains) text += s + " = fma(" + s + ", factors.x, factors.y);\n";
    }
  }
  text += "}\nfloat total = 0.0;\n";
  for (int c = 0; c < half_chains; ++c)
    text += "total += float(h" + std::to_string(c) + ".x + h" + std::to_string(c) + ".y);\n";
  for (int c = 0; c < single_chains; ++c) text += "total += s" + std::to_string(c) + ";\n";
  return text + "result[gl_GlobalInvocationID.x] = total;\n}\n";
}

/// Writes the program binary. It holds NV assembly and no machine code: count_instructions.py reads the driver's cache.
void inspect_binary(GLuint program, const std::string& name, const std::string& directory) {
  GLint length = 0;
  glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &length);
  if (length <= 0) {
    std::printf("binary %s: the driver gives none\n", name.c_str());
    return;
  }
  std::string bytes(static_cast<std::size_t>(length), '\0');
  GLenum format = 0;
  glGetProgramBinary(program, length, nullptr, &format, bytes.data());
  std::ofstream(directory + "/binary-" + name + ".bin", std::ios::binary) << bytes;
  const auto occurrences = [&](const char* word) {
    int count = 0;
    for (std::size_t at = bytes.find(word); at != std::string::npos; at = bytes.find(word, at + 1)) ++count;
    return count;
  };
  std::printf("binary %s: %d bytes, NV assembly with %d MAD.F16, %d MAD.F32, %d MAD.F64\n", name.c_str(), length,
              occurrences("MAD.F16"), occurrences("MAD.F32"), occurrences("MAD.F64"));
}

void measure_rate(const char* name, GLuint program, int lanes, int chains, bool software, GLuint buffer, int groups) {
  raise_clocks();
  glUseProgram(program);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
  glUniform4f(1, 0.875F, 0.125F, 0.0625F, 0.001F);
  int iterations = software ? 2 : 64;
  double seconds = 0;
  for (;;) {
    glUniform1i(0, iterations);
    const auto dispatch = [&] {
      glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
      glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    };
    seconds = wall_seconds(dispatch);
    if (software || seconds > 0.01 || iterations > 1 << 20) {
      seconds = median_seconds(software ? 1 : 7, dispatch);
      break;
    }
    iterations *= 4;
  }
  const double operations = 2.0 * groups * invocations * iterations * unrolled_steps * chains * lanes;
  std::printf("rate %-28s %8.2f TFLOPS (%d chains, %.2f ms)\n", name, operations / seconds * 1e-12, chains,
              seconds * 1e3);
}

float rounded_to_half(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, -13) - 11);
  return static_cast<float>(std::nearbyint(value / unit) * unit);
}

/// Eight dependent multiply-adds on random f16vec2 values against three kinds of arithmetic on the CPU.
void check_half_results(bool calls_fma) {
  constexpr int count = 4096, steps = 8;
  const std::string operation = calls_fma ? "x = fma(x, m, b);" : "x = x * m + b;";
  std::string text =
      "#version 450\n#extension GL_NV_gpu_shader5 : require\nlayout(local_size_x=64) in;\n"
      "layout(std430,binding=0) buffer Values { vec4 values[]; };\nlayout(std430,binding=1) buffer Results { vec2 "
      "results[]; };\nvoid main(){ uint i = gl_GlobalInvocationID.x; vec4 v = values[i];\n"
      "f16vec2 x = f16vec2(v.xy), m = f16vec2(v.zw), b = f16vec2(v.yx);\n";
  for (int i = 0; i < steps; ++i) text += operation + "\n";
  text += "results[i] = vec2(x); }\n";
  const GLuint program = build_program(text, calls_fma ? "check fma" : "check product and sum");
  if (!program) return;
  std::vector<float> values = random_floats(std::size_t{count} * 4, 7);
  for (float& value : values) value = rounded_to_half(value * 4);
  std::array<GLuint, 2> buffers{};
  glCreateBuffers(2, buffers.data());
  glNamedBufferStorage(buffers[0], count * 16, values.data(), 0);
  glNamedBufferStorage(buffers[1], count * 8, nullptr, 0);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffers[0]);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, buffers[1]);
  glUseProgram(program);
  glDispatchCompute(count / 64, 1, 1);
  glMemoryBarrier(GL_ALL_BARRIER_BITS);
  std::vector<float> results(std::size_t{count} * 2);
  glGetNamedBufferSubData(buffers[1], 0, count * 8, results.data());
  int fused = 0, two_roundings = 0, single = 0;
  double largest = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const float* v = &values[(i / 2) * 4];
    const float m = v[2 + i % 2], b = v[1 - i % 2];
    float a = v[i % 2], t = a, s = a;
    double exact = a;
    for (int step = 0; step < steps; ++step) {
      a = rounded_to_half(static_cast<double>(a) * m + b);
      t = rounded_to_half(static_cast<double>(rounded_to_half(static_cast<double>(t) * m)) + b);
      s = std::fma(s, m, b);
      exact = exact * m + b;
    }
    fused += results[i] == a;
    two_roundings += results[i] == t;
    single += results[i] == s;
    largest = std::max(largest, std::fabs(results[i] - exact) / std::max(std::fabs(exact), 1.0));
  }
  std::printf(
      "check f16vec2 %s: of %d results equal to half with one rounding %d, half with two roundings %d, single %d; "
      "largest error %.1e\n",
      calls_fma ? "fma" : "product and sum", count * 2, fused, two_roundings, single, largest);
  glDeleteBuffers(2, buffers.data());
  glDeleteProgram(program);
}

void print_abilities() {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  std::printf("extensions (%d in all):", count);
  for (GLint i = 0; i < count; ++i) {
    const std::string name = reinterpret_cast<const char*>(glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i)));
    for (const char* part : {"half",          "int8",          "int16",         "16bit",
                             "8bit",          "cooperative",   "subgroup",      "shader64",
                             "int64",         "fp64",          "memory_object", "semaphore",
                             "buffer_load",   "buffer_store",  "gpu_shader",    "explicit_arithmetic",
                             "shader_atomic", "shader_thread", "shader_clock",  "realtime",
                             "spirv",         "memory_info",   "meminfo",       "sparse_buffer",
                             "gpu_program",   "demote",        "bindless",      "unified_memory",
                             "gpu_multicast", "command_list"}) {
      if (name.find(part) != std::string::npos) {
        std::printf(" %s", name.c_str());
        break;
      }
    }
  }
  std::printf("\nSPIR-V extensions:");
  GLint spir_v_count = 0;
  glGetIntegerv(GL_NUM_SPIR_V_EXTENSIONS, &spir_v_count);
  while (glGetError() != GL_NO_ERROR) spir_v_count = 0;
  for (GLint i = 0; i < spir_v_count; ++i) {
    const GLubyte* name = glGetStringi(GL_SPIR_V_EXTENSIONS, static_cast<GLuint>(i));
    std::printf(" %s", name ? reinterpret_cast<const char*>(name) : "?");
  }
  std::printf(" (%d)\n", spir_v_count);
  struct Limit {
    const char* name;
    GLenum value;
  };
  for (const Limit& limit :
       {Limit{"storage block bytes", GL_MAX_SHADER_STORAGE_BLOCK_SIZE},
        Limit{"storage bindings", GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS},
        Limit{"storage blocks a compute shader", GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS},
        Limit{"storage offset alignment", GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT},
        Limit{"uniform block bytes", GL_MAX_UNIFORM_BLOCK_SIZE},
        Limit{"shared memory bytes", GL_MAX_COMPUTE_SHARED_MEMORY_SIZE},
        Limit{"invocations a work group", GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS},
        Limit{"texture side", GL_MAX_TEXTURE_SIZE}, Limit{"texel buffer", GL_MAX_TEXTURE_BUFFER_SIZE},
        Limit{"subgroup size", 0x9532}, Limit{"subgroup features", 0x9534},
        Limit{"NVX total KiB", GL_GPU_MEMORY_INFO_TOTAL_AVAILABLE_MEMORY_NVX},
        Limit{"NVX dedicated KiB", GL_GPU_MEMORY_INFO_DEDICATED_VIDMEM_NVX}}) {
    std::printf("limit %s: %lld\n", limit.name, static_cast<long long>(gl_integer(limit.value)));
  }
  GLint groups = 0;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups);
  std::printf("limit work groups: %d\n", groups);
  while (glGetError() != GL_NO_ERROR) {
    // A limit that the driver does not know.
  }
}

/// Links a SPIR-V compute module. Returns 0 and prints why if that fails.
GLuint build_spir_v_program(const std::string& path) {
  const std::vector<char> words = read_bytes(path);
  if (words.empty()) {
    std::printf("SPIR-V %s: no such file\n", path.c_str());
    return 0;
  }
  if (!has_extension("GL_ARB_gl_spirv")) {
    std::printf("SPIR-V: no GL_ARB_gl_spirv\n");
    return 0;
  }
  const GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
  glShaderBinary(1, &shader, GL_SHADER_BINARY_FORMAT_SPIR_V_ARB, words.data(), static_cast<GLsizei>(words.size()));
  GLenum error = glGetError();
  const auto specialize = reinterpret_cast<PFNGLSPECIALIZESHADERARBPROC>(eglGetProcAddress("glSpecializeShaderARB"));
  if (specialize) specialize(shader, "main", 0, nullptr, nullptr);
  if (error == GL_NO_ERROR) error = glGetError();
  GLint compiled = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  const GLuint program = glCreateProgram();
  glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
  glAttachShader(program, shader);
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  std::array<char, 800> log{};
  glGetShaderInfoLog(shader, log.size(), nullptr, log.data());
  if (log[0] == '\0') glGetProgramInfoLog(program, log.size(), nullptr, log.data());
  std::printf("SPIR-V %s: error 0x%x, compiled %d, linked %d %s\n", path.substr(path.rfind('/') + 1).c_str(), error,
              compiled, linked, log.data());
  return linked ? program : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: half_rate DEVICE [DIRECTORY]");
  const std::string directory = argc > 2 ? argv[2] : ".";
  open_context(std::atoi(argv[1]));
  const bool software = is_software_renderer();
  if (argc > 3) return build_spir_v_program(directory + "/" + argv[3]) ? 0 : 1;
  print_abilities();

  const char* half = "#extension GL_NV_gpu_shader5 : require\n";
  const int groups = software ? 4 : 132 * 64;
  GLuint buffer = 0;
  glCreateBuffers(1, &buffer);
  glNamedBufferStorage(buffer, GLsizeiptr{groups} * invocations * 4, nullptr, 0);
  const std::vector<Kernel> kernels{
      {"float", "", "float", 1, 16, true, "float"},
      {"vec2", "", "vec2", 2, 8, true, "float"},
      {"vec4", "", "vec4", 4, 8, true, "float"},
      {"double", "", "double", 1, 16, true, "double"},
      {"dvec2", "", "dvec2", 2, 8, true, "double"},
      {"f16-fma", half, "float16_t", 1, 16, true, "float16_t"},
      {"f16vec2-fma", half, "f16vec2", 2, 16, true, "float16_t"},
      {"f16vec4-fma", half, "f16vec4", 4, 8, true, "float16_t"},
      {"f16vec2-product-sum", half, "f16vec2", 2, 16, false, "float16_t"},
      {"f16vec4-product-sum", half, "f16vec4", 4, 8, false, "float16_t"},
      {"f16vec2-amd", "#extension GL_AMD_gpu_shader_half_float : require\n", "f16vec2", 2, 16, true, "float16_t"},
      {"f16vec2-explicit-types", "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n", "f16vec2", 2,
       16, true, "float16_t"}};
  for (const Kernel& kernel : kernels) {
    const GLuint program = build_program(kernel_source(kernel), kernel.name);
    if (!program) continue;
    measure_rate(kernel.name, program, kernel.lanes, kernel.chains, software, buffer, groups);
    inspect_binary(program, kernel.name, directory);
    glDeleteProgram(program);
  }
  // Chains of both kinds tell whether packed half arithmetic leaves room for single precision in the same cycles.
  for (const int single_chains : {4, 8, 16}) {
    const int half_chains = 8;
    const GLuint program = build_program(mixed_source(half_chains, single_chains), "mixed");
    if (!program) continue;
    const std::string name = "8 f16vec2 and " + std::to_string(single_chains) + " float chains";
    measure_rate(name.c_str(), program, 1, half_chains * 2 + single_chains, software, buffer, groups);
    inspect_binary(program, "mixed-" + std::to_string(single_chains), directory);
  }
  check_half_results(true);
  check_half_results(false);
  if (software) return 0;
  // Mesa crashes when asked for the binary of a SPIR-V program.
  if (const GLuint program = build_spir_v_program(directory + "/half_rate.spv")) {
    measure_rate("f16vec2-SPIR-V", program, 2, 16, software, buffer, groups);
    inspect_binary(program, "f16vec2-spir-v", directory);
  }
  std::printf("done\n");
  return 0;
}
