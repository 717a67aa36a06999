#include "gl/context.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glew.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "gl/devices.hpp"
#include "gl/vulkan_memory.hpp"
#include "host/host_memory.hpp"

namespace glinpack::gl {
namespace {

std::string gl_string(GLenum name) {
  const GLubyte* text = glGetString(name);
  return text ? reinterpret_cast<const char*>(text) : "";
}

std::int64_t gl_integer(GLenum name) {
  GLint64 value = 0;
  glGetInteger64v(name, &value);
  return value;
}

/// GLEW cannot distinguish extensions of a core context from entry points; the context can.
bool has_extension(std::string_view wanted) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    const GLubyte* name = glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
    if (name && wanted == reinterpret_cast<const char*>(name)) return true;
  }
  return false;
}

/// DeviceDescription::subgroup_size. GLEW 2.2 does not know the extension.
int useful_subgroup_size() {
  if (!has_extension("GL_KHR_shader_subgroup")) return 0;
  constexpr GLenum size = 0x9532, supported_stages = 0x9533, supported_features = 0x9534;
  constexpr std::int64_t compute = 0x20, basic = 0x1, arithmetic = 0x4, ballot = 0x8, shuffle = 0x10;
  constexpr std::int64_t needed = basic | arithmetic | ballot | shuffle;
  if ((gl_integer(supported_stages) & compute) == 0 || (gl_integer(supported_features) & needed) != needed) return 0;
  return static_cast<int>(gl_integer(size));
}

bool is_software(const std::string& renderer) {
  for (const char* name : {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SwiftShader"}) {
    if (renderer.find(name) != std::string::npos) return true;
  }
  return false;
}

/// Bytes of device memory, {total, free}; 0 if the driver does not report it (GL_NVX_gpu_memory_info, GL_ATI_meminfo).
std::pair<std::int64_t, std::int64_t> device_memory(bool software) {
  if (software) return {bytes_of_host_memory("MemTotal"), bytes_of_host_memory("MemAvailable")};
  if (has_extension("GL_NVX_gpu_memory_info")) {
    return {gl_integer(GL_GPU_MEMORY_INFO_TOTAL_AVAILABLE_MEMORY_NVX) * 1024,
            gl_integer(GL_GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX) * 1024};
  }
  if (has_extension("GL_ATI_meminfo")) {
    std::array<GLint, 4> kibibytes{};
    glGetIntegerv(GL_VBO_FREE_MEMORY_ATI, kibibytes.data());
    return {0, std::int64_t{kibibytes[0]} * 1024};
  }
  return {0, 0};
}

/// The driver's UUID of the device as hexadecimal digits (GL_EXT_memory_object); empty if unavailable.
std::string device_uuid() {
  if (!has_extension("GL_EXT_memory_object") || glGetUnsignedBytei_vEXT == nullptr) return {};
  std::array<GLubyte, GL_UUID_SIZE_EXT> uuid{};
  glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid.data());
  if (glGetError() != GL_NO_ERROR) return {};
  return fmt::format("{:02x}", fmt::join(uuid, ""));
}

void GLAPIENTRY keep_first_error(GLenum, GLenum type, GLuint id, GLenum severity, GLsizei, const GLchar* message,
                                 const void* kept) {
  if (type != GL_DEBUG_TYPE_ERROR && severity != GL_DEBUG_SEVERITY_HIGH) return;
  std::string& error = *static_cast<std::string*>(const_cast<void*>(kept));
  if (error.empty()) error = "OpenGL reports error " + std::to_string(id) + ": " + message;
}

EGLDeviceEXT device_at(int index) {
  const std::vector<void*>& devices = egl_devices();
  if (devices.empty()) {
    const std::string variables = driver_variables_text();
    throw std::runtime_error(
        "no EGL device: " +
        (variables.empty()
             ? "install the EGL driver of the GPU, or libegl-mesa0 and libgl1-mesa-dri for software OpenGL"
             : variables));
  }
  if (index < 0 || index >= static_cast<int>(devices.size())) {
    throw std::runtime_error(fmt::format("no EGL device {}: there are devices 0 to {}; `glinpack devices` lists them",
                                         index, devices.size() - 1));
  }
  return devices[static_cast<std::size_t>(index)];
}

}  // namespace

std::shared_ptr<Context> Context::create(int device_index, bool debug) {
  return std::shared_ptr<Context>(new Context(device_index, debug));
}

std::shared_ptr<Context> Context::create_sharing(const Context& other) {
  return std::shared_ptr<Context>(new Context(other, Sharing()));
}

// An exception after the delegated constructor calls the destructor.
Context::Context(const Context& other, Sharing) : Context() {
  display_ = other.display_;
  sharing_ = other.sharing_;
  description_ = other.description_;
  create_context(false);
  make_current();
}

Context::Context(int device_index, bool debug) : Context() {
  display_ = display_of(device_at(device_index));
  sharing_ = std::make_shared<std::vector<void*>>();
  create_context(debug);
  make_current();
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  // Under EGL, GLEW finds no GLX display after it has loaded all GL functions.
  if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY) {
    throw std::runtime_error(std::string("GLEW cannot load the OpenGL functions: ") +
                             reinterpret_cast<const char*>(glewGetErrorString(status)));
  }
  while (glGetError() != GL_NO_ERROR) {
    // errors of GLEW's own probing
  }
  if (debug) {
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageCallback(keep_first_error, &debug_error_);
  }
  describe(device_index);
}

Context::~Context() {
  matrix_memory_.reset();
  if (!context_) return;
  if (eglGetCurrentContext() == context_) eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  std::erase(*sharing_, context_);
  eglDestroyContext(display_, context_);
}

void Context::create_context(bool debug) {
  if (!eglBindAPI(EGL_OPENGL_API)) throw std::runtime_error("the EGL driver of the device has no desktop OpenGL");
  const std::array<EGLint, 5> wanted{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  if (!eglChooseConfig(display_, wanted.data(), &config, 1, &configs) || configs < 1) {
    throw std::runtime_error("the device has no EGL configuration for OpenGL without a window");
  }
  const std::array<EGLint, 9> version{EGL_CONTEXT_MAJOR_VERSION,
                                      4,
                                      EGL_CONTEXT_MINOR_VERSION,
                                      5,
                                      EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                      debug ? EGL_CONTEXT_OPENGL_DEBUG : EGL_NONE,
                                      EGL_TRUE,
                                      EGL_NONE};
  context_ = eglCreateContext(display_, config, sharing_->empty() ? EGL_NO_CONTEXT : sharing_->front(), version.data());
  if (!context_) {
    throw std::runtime_error(fmt::format(
        "the device has no OpenGL 4.5 core profile (EGL error {:#x}): install a newer driver", eglGetError()));
  }
  sharing_->push_back(context_);
}

void Context::describe(int device_index) {
  description_.index = device_index;
  description_.usable = true;
  description_.vendor = gl_string(GL_VENDOR);
  description_.renderer = gl_string(GL_RENDERER);
  description_.version = gl_string(GL_VERSION);
  description_.software = is_software(description_.renderer);
  description_.uuid = device_uuid();
  std::tie(description_.total_memory, description_.free_memory) = device_memory(description_.software);
  description_.storage_block = gl_integer(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
  description_.texture_side = gl_integer(GL_MAX_TEXTURE_SIZE);
  description_.shared_memory = gl_integer(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  description_.invocations = gl_integer(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
  description_.subgroup_size = useful_subgroup_size();
}

void Context::make_current() const {
  if (eglGetCurrentContext() == context_) return;
  if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) {
    throw std::runtime_error(
        fmt::format("the OpenGL context cannot be made current without a surface (EGL error {:#x})", eglGetError()));
  }
}

void Context::make_sharing_current() const {
  if (std::find(sharing_->begin(), sharing_->end(), eglGetCurrentContext()) == sharing_->end()) make_current();
}

bool Context::has_extension(std::string_view name) const {
  make_current();
  return gl::has_extension(name);
}

std::int64_t Context::free_memory() const {
  make_current();
  return device_memory(description_.software).second;
}

void Context::throw_debug_error() {
  if (!debug_error_.empty()) throw std::runtime_error(std::exchange(debug_error_, {}));
}

void Context::throw_error(const char* what) const {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  throw std::runtime_error(fmt::format("{}: OpenGL error {:#x}{} on {}", what, error,
                                       error == GL_OUT_OF_MEMORY ? " (out of memory)" : "", description_.renderer));
}

CurrentContextGuard::CurrentContextGuard()
    : display_(eglGetCurrentDisplay()),
      context_(eglGetCurrentContext()),
      draw_(eglGetCurrentSurface(EGL_DRAW)),
      read_(eglGetCurrentSurface(EGL_READ)) {}

CurrentContextGuard::~CurrentContextGuard() {
  if (context_) {
    eglMakeCurrent(display_, draw_, read_, context_);
  } else if (EGLDisplay now = eglGetCurrentDisplay()) {
    eglMakeCurrent(now, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }
}

}  // namespace glinpack::gl
