// The EGL devices of this machine, as `glinpack devices` lists them and `--device` counts them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::gl {

struct DeviceDescription {
  int index = 0;                   // position in eglQueryDevicesEXT's list, after EGL_VISIBLE_DEVICES
  bool usable = false;             // a GL 4.5 core context can be made current without a surface
  std::string why_unusable;        // cause and remedy, when it is not
  bool software = false;           // Mesa's llvmpipe, softpipe, swrast
  std::string vendor;              // GL_VENDOR
  std::string renderer;            // GL_RENDERER
  std::string version;             // GL_VERSION: names the driver, too
  std::string uuid;                // of the device, hexadecimal; empty if unknown
  std::string drm_file;            // "/dev/dri/card0"; empty if unknown
  int cuda_ordinal = -1;           // EGL_CUDA_DEVICE_NV; -1 if there is none
  std::int64_t total_memory = 0;   // bytes, 0 if unknown
  std::int64_t free_memory = 0;    // bytes, 0 if unknown
  std::int64_t storage_block = 0;  // GL_MAX_SHADER_STORAGE_BLOCK_SIZE, bytes
  std::int64_t texture_side = 0;   // GL_MAX_TEXTURE_SIZE, texels
  std::int64_t shared_memory = 0;  // GL_MAX_COMPUTE_SHARED_MEMORY_SIZE, bytes
  std::int64_t invocations = 0;    // GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS
  // of subgroups that compute shaders may reduce over and vote in (KHR_shader_subgroup); 0 without such subgroups
  int subgroup_size = 0;
};

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

/// The device for the rank that is `local_rank`-th on its node: usable hardware devices in turn; software devices only
/// if `software_allowed`; -1 for none.
int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed);

}  // namespace glinpack::gl
