#include "local/gl/devices.hpp"

#include <exception>

#include "local/gl/context.hpp"
#include "local/gl/egl_devices.hpp"

#ifndef EGL_CUDA_DEVICE_NV
#define EGL_CUDA_DEVICE_NV 0x323A
#endif

namespace glinpack::gl {
namespace {

/// What EGL knows of a device without opening it.
void describe_by_egl(EGLDeviceEXT device, DeviceDescription& description) {
  const auto device_string = egl_function<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  const auto device_attribute = egl_function<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  const char* listed = device_string ? device_string(device, EGL_EXTENSIONS) : nullptr;
  const std::string extensions = listed ? listed : "";
  if (extensions.find("EGL_EXT_device_drm") != std::string::npos) {
    if (const char* file = device_string(device, EGL_DRM_DEVICE_FILE_EXT)) description.drm_file = file;
  }
  if (device_attribute && extensions.find("EGL_NV_device_cuda") != std::string::npos) {
    EGLAttrib ordinal = -1;
    if (device_attribute(device, EGL_CUDA_DEVICE_NV, &ordinal)) description.cuda_ordinal = static_cast<int>(ordinal);
  }
  // Mesa names its software device here, so that it can be told apart even where it does not open.
  description.software = extensions.find("EGL_MESA_device_software") != std::string::npos;
}

DeviceDescription describe(int index) {
  DeviceDescription description;
  description.index = index;
  try {
    description = Context::create(index)->device();
  } catch (const std::exception& error) {
    description.why_unusable = error.what();
  }
  const bool software = description.software;
  describe_by_egl(egl_devices()[static_cast<std::size_t>(index)], description);
  description.software = description.software || software;
  return description;
}

}  // namespace

std::vector<DeviceDescription> list_devices() {
  const CurrentContextGuard restore_current_context;
  std::vector<DeviceDescription> devices;
  for (int index = 0; index < device_count(); ++index) devices.push_back(describe(index));
  return devices;
}

int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed) {
  for (const bool software : {false, true}) {
    if (software && !software_allowed) break;
    std::vector<int> candidates;
    for (const DeviceDescription& device : devices) {
      if (device.usable && device.software == software) candidates.push_back(device.index);
    }
    if (!candidates.empty()) return candidates[static_cast<std::size_t>(local_rank) % candidates.size()];
  }
  return -1;
}

}  // namespace glinpack::gl
