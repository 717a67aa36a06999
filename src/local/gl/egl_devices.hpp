// EGL's list of devices, before any context exists.
#pragma once

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <string_view>
#include <vector>

namespace glinpack::gl {

/// The devices that EGL_VISIBLE_DEVICES leaves, in its order; asked for once in the life of the process.
const std::vector<EGLDeviceEXT>& egl_devices();

/// Positions in a list of `count` devices that `selection` ("0,2") names. As CUDA_VISIBLE_DEVICES does: entries from
/// the first one on that is no valid position count for nothing, and nor do repeated ones.
std::vector<int> selected_devices(std::string_view selection, int count);

/// The display of a device, initialised. Never terminated: all contexts of a device share it, and eglTerminate would
/// take it from the others. Throws std::runtime_error.
EGLDisplay display_of(EGLDeviceEXT device);

/// A function that EGL's headers declare only as a type; null where this EGL lacks it.
template <class Function>
Function egl_function(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

}  // namespace glinpack::gl
