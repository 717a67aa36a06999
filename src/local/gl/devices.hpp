// The EGL devices of this machine, as `glinpack devices` lists them and `--device` counts them.
#pragma once

#include <cstdint>
#include <string>
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
  std::string uuid;                // of the device, hexadecimal; empty where the driver has none
  std::string drm_file;            // "/dev/dri/card0"; empty where the driver does not say
  int cuda_ordinal = -1;           // EGL_CUDA_DEVICE_NV; -1 where there is none
  std::int64_t total_memory = 0;   // bytes, 0 where unknown
  std::int64_t free_memory = 0;    // bytes, 0 where unknown
  std::int64_t storage_block = 0;  // GL_MAX_SHADER_STORAGE_BLOCK_SIZE, bytes
  std::int64_t texture_side = 0;   // GL_MAX_TEXTURE_SIZE, texels
  std::int64_t shared_memory = 0;  // GL_MAX_COMPUTE_SHARED_MEMORY_SIZE, bytes
  std::int64_t invocations = 0;    // GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS
  // of subgroups that compute shaders may reduce over and take votes of (KHR_shader_subgroup); 0 where there are none
  int subgroup_size = 0;
};

/// All EGL devices, in EGL's order; the ones that do not work say why. EGL_VISIBLE_DEVICES ("0,2"), where it is set,
/// selects and orders them as the drivers that know it do. Never throws for a device's sake; an empty list where EGL
/// has no devices or no libEGL vendor is installed.
std::vector<DeviceDescription> list_devices();

/// The device for the rank that is `local_rank`-th on its node: usable hardware devices in turn; software devices only
/// where `software_allowed`; -1 where there is none.
int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed);

}  // namespace glinpack::gl
