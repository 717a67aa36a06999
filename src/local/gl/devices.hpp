// The EGL devices of this machine, as `glinpack devices` lists them and `--device` counts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/device_catalog.hpp"

namespace glinpack::gl {

inline constexpr const char* visible_devices_variable = "EGL_VISIBLE_DEVICES";

/// EGL's devices that EGL_VISIBLE_DEVICES selects, in its order; queried once per process. They are EGLDeviceEXTs: void
/// pointers keep EGL out of this header. Empty without an EGL driver.
const std::vector<void*>& egl_devices();
int device_count();

/// The positions in a list of `count` devices that `selection` ("0,2") names. As with CUDA_VISIBLE_DEVICES, the first
/// invalid entry ends the list; repeated entries are dropped.
std::vector<int> selected_devices(std::string_view selection, int count);

/// The environment variables that can hide devices or break their drivers, if they are set: "GALLIUM_DRIVER=softpipe".
std::vector<std::string> driver_variables();
/// "GALLIUM_DRIVER=softpipe is set: correct or unset it"; empty if none is set.
std::string driver_variables_text();

/// The initialised EGLDisplay of a device. All contexts of the device share it, so it is never terminated. Throws
/// std::runtime_error.
void* display_of(void* device);

/// All EGL devices, in EGL's order; devices that do not work give the reason. EGL_VISIBLE_DEVICES ("0,2"), if set,
/// selects and orders them as drivers that support it do. A broken device never makes it throw. The list is empty if
/// EGL has no devices or no libEGL vendor is installed.
std::vector<DeviceDescription> list_devices();

}  // namespace glinpack::gl
