/// Shared by the experiment programs: a headless OpenGL context, program building, timing, and memory figures.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glew.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace experiment {

inline std::string gl_string(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text ? reinterpret_cast<const char*>(text) : "";
}

inline std::int64_t gl_integer(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value;
}

inline bool has_extension(std::string_view wanted) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    const GLubyte* name = glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
    if (name && wanted == reinterpret_cast<const char*>(name)) return true;
  }
  return false;
}

inline bool is_software_renderer() { return gl_string(GL_RENDERER).find("llvmpipe") != std::string::npos; }

/// GLEW 2.2 does not know GL_KHR_shader_subgroup.
inline bool has_subgroup_arithmetic() {
  constexpr GLenum supported_stages = 0x9533, supported_features = 0x9534;
  constexpr std::int64_t compute = 0x20, basic = 0x1, arithmetic = 0x4, ballot = 0x8;
  constexpr std::int64_t needed = basic | arithmetic | ballot;
  return has_extension("GL_KHR_shader_subgroup") && (gl_integer(supported_stages) & compute) != 0 &&
         (gl_integer(supported_features) & needed) == needed;
}

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

inline void print_date() {
  std::array<char, 64> text{};
  const std::time_t now = std::time(nullptr);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
  std::printf("date: %s\n", text.data());
}

/// Makes a headless core context on one EGL device current and prints the GPU, the driver version and the date.
inline void open_context(int device_index) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto query_devices = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  const auto get_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (!query_devices || !get_display) fail("EGL has no device platform");
  std::array<EGLDeviceEXT, 16> devices{};
  EGLint device_count = 0;
  query_devices(devices.size(), devices.data(), &device_count);
  if (device_index < 0 || device_index >= device_count) fail("no EGL device " + std::to_string(device_index));
  EGLDisplay display = get_display(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(device_index)], nullptr);
  if (!eglInitialize(display, nullptr, nullptr)) fail("eglInitialize failed");
  eglBindAPI(EGL_OPENGL_API);
  const std::array<EGLint, 5> attributes{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                         EGL_NONE};
  EGLConfig config = nullptr;
  EGLint config_count = 0;
  eglChooseConfig(display, attributes.data(), &config, 1, &config_count);
  EGLContext context = EGL_NO_CONTEXT;
  for (const EGLint minor : {6, 5}) {
    const std::array<EGLint, 7> version{
        EGL_CONTEXT_MAJOR_VERSION,           4,       EGL_CONTEXT_MINOR_VERSION, minor, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, version.data());
    if (context != EGL_NO_CONTEXT) break;
  }
  if (context == EGL_NO_CONTEXT || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
    fail("no OpenGL 4.5 core context");
  }
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY) fail("glewInit failed");
  while (glGetError() != GL_NO_ERROR) {
    // GLEW's own probing raises errors.
  }
  std::printf("GPU: %s\ndriver: %s\nGLSL: %s\n", gl_string(GL_RENDERER).c_str(), gl_string(GL_VERSION).c_str(),
              gl_string(GL_SHADING_LANGUAGE_VERSION).c_str());
  print_date();
}

/// Links a compute program from GLSL text. Returns 0 and prints the log if that fails.
inline GLuint build_program(const std::string& source, const char* name) {
  const GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
  const GLuint program = glCreateProgram();
  const char* text = source.c_str();
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
  glAttachShader(program, shader);
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  if (!linked) {
    std::array<char, 1500> log{};
    glGetShaderInfoLog(shader, log.size(), nullptr, log.data());
    if (log[0] == '\0') glGetProgramInfoLog(program, log.size(), nullptr, log.data());
    std::printf("%s: does not build: %s\n", name, log.data());
    glDeleteProgram(program);
  }
  glDeleteShader(shader);
  return linked ? program : 0;
}

template <class Work>
double wall_seconds(const Work& work) {
  glFinish();
  const auto start = std::chrono::steady_clock::now();
  work();
  glFinish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Keeps the GPU busy, because an idle one needs a part of a second to reach its clock rate (345 to 1980 MHz on an
/// H200). Returns the rate of the last kernel in TFLOPS, which tells the clock rate.
inline double raise_clocks(double seconds = 0.4) {
  if (is_software_renderer()) return 0;
  static const GLuint program = build_program(
      "#version 450\nlayout(local_size_x=256) in;\nlayout(std430,binding=15) buffer Sink { float sink[]; };\n"
      "layout(location=0) uniform float m;\nvoid main(){ float a = m, b = m + 1.0, c = m + 2.0, d = m + 3.0;\n"
      "for (int i = 0; i < 4096; ++i) { a = fma(a, m, b); b = fma(b, m, c); c = fma(c, m, d); d = fma(d, m, a);\n"
      "a = fma(a, m, c); b = fma(b, m, d); c = fma(c, m, a); d = fma(d, m, b); }\n"
      "if (a + b + c + d == 12345.0) sink[gl_GlobalInvocationID.x % 64u] = a; }\n",
      "clock kernel");
  static const GLuint sink = [] {
    GLuint buffer = 0;
    glCreateBuffers(1, &buffer);
    glNamedBufferStorage(buffer, 256, nullptr, 0);
    return buffer;
  }();
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 15, sink);
  glUseProgram(program);
  glUniform1f(0, 0.5F);
  constexpr int groups = 132 * 32;
  const auto start = std::chrono::steady_clock::now();
  double last = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    last = wall_seconds([] { glDispatchCompute(groups, 1, 1); });
  }
  return 2.0 * groups * 256 * 4096 * 8 / last * 1e-12;
}

/// Median of the repeats, after one run that is not counted.
template <class Work>
double median_seconds(int repeats, const Work& work) {
  wall_seconds(work);
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(wall_seconds(work));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// One line of /proc/meminfo or /proc/self/status in bytes; 0 if there is none.
inline std::int64_t proc_bytes(const char* path, std::string_view wanted) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(std::string(wanted) + ":", 0) == 0) return std::atoll(line.c_str() + wanted.size() + 1) * 1024;
  }
  return 0;
}

inline std::vector<char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

}  // namespace experiment
